import { createHash } from 'node:crypto';

/**
 * The ids of a conversation's calls. The protocol may leave them out: then a call gets one by its
 * place, the same every time the conversation is read, and a response belongs to the first call of its
 * name that has none yet.
 */
export class CallIds {
  readonly #taken: ReadonlySet<string>;
  readonly #waiting: { readonly id: string; readonly name: string }[] = [];
  #made = 0;

  /** @param taken ids that the conversation holds already */
  constructor(taken: ReadonlySet<string>) {
    this.#taken = taken;
  }

  ofCall(given: string | undefined, name: string): string {
    const id = given ?? this.#next();
    this.#waiting.push({ id, name });
    return id;
  }

  ofResponse(given: string | undefined, name: string): string {
    const found = this.#waiting.findIndex((call) =>
      given === undefined ? call.name === name : call.id === given,
    );
    const call = found < 0 ? undefined : this.#waiting.splice(found, 1)[0];
    return given ?? call?.id ?? this.#next();
  }

  #next(): string {
    for (;;) {
      const id = `call_${++this.#made}`;
      if (!this.#taken.has(id)) return id;
    }
  }
}

/**
 * Ids for the calls of an answer that names none: unlike those of any other answer, and the same when
 * it is read again.
 *
 * @param seed text of the answer
 */
export function createAnswerIds(seed: string): () => string {
  let made = 0;
  return () => {
    const hash = createHash('sha256').update(`${++made}\n${seed}`).digest('hex');
    return `call_${hash.slice(0, 24)}`;
  };
}
