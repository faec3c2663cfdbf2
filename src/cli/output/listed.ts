/** A sentence about one thing, or a heading with a line for each of several. */
export function listed(head: string, names: readonly string[]): string {
  return names.length === 1 ? `${head}: ${names[0]}` : `${head}:\n${names.join('\n')}`;
}
