import { createHash } from 'node:crypto';

/** Characters of the digest that sets an id apart from another. */
const DIGEST = 12;

/** Another id for a call whose id is used already; it is the same in every later request. */
export function otherId(id: string, salt: string): string {
  const digest = createHash('sha256').update(`${id}\n${salt}`).digest('hex').slice(0, DIGEST);
  return `${id}_${digest}`;
}

/**
 * Ids of the calls of an answer. Some servers count from zero in each answer, and clients pair results by
 * the id only: one that the conversation has already becomes another.
 */
export class UniqueIds {
  readonly #used: Set<string>;
  readonly #answer: string;

  /**
   * @param used ids of the conversation
   * @param answer id of the answer
   */
  constructor(used: Iterable<string>, answer: string) {
    this.#used = new Set(used);
    this.#answer = answer;
  }

  take(id: string): string {
    let own = id;
    for (let count = 0; this.#used.has(own); count++) own = otherId(id, `${this.#answer} ${count}`);
    this.#used.add(own);
    return own;
  }
}
