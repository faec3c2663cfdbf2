/**
 * Matches ids of providers that are kept and may be part of an address: never a step through the
 * path.
 */
const WORK_ID = /^(?!\.{1,2}$)[^\p{Cc}\p{Surrogate}]{1,512}$/u;

/** True for an id by which a provider can be asked for its work later: at most 512 characters. */
export function isWorkId(id: unknown): id is string {
  return typeof id === 'string' && WORK_ID.test(id);
}
