/**
 * Returns the rest of a path below a base, percent-encoded as it came. A slash at its end says nothing, as
 * at the end of the paths that the router knows whole.
 */
export function pathBelow(path: string, base: string): string {
  return path.slice(base.length + 1).replace(/\/$/, '');
}
