/** Most losses of a request; the ones that an answer reports must fit into its head. */
const MAX_LOSSES = 64;
const MAX_NAME_CHARS = 96;

/**
 * The losses as the record and the answer report them. They carry the client's own words, which may be as long
 * and as many as its body, so they are truncated: unknown field names are dropped, the first ones are kept.
 */
export function toldLosses(losses: readonly string[]): string[] {
  return losses.filter((name) => name.length <= MAX_NAME_CHARS).slice(0, MAX_LOSSES);
}
