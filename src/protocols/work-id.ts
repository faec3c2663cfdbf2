/** Of the ids that providers give, what is kept and may stand in an address: none that is a step through it. */
const WORK_ID = /^(?!\.{1,2}$)[^\p{Cc}\p{Surrogate}]{1,512}$/u;

/** True for an id by which a provider can be asked for its work later: at most 512 characters. */
export function isWorkId(id: unknown): id is string {
  return typeof id === 'string' && WORK_ID.test(id);
}
