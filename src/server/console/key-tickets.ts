import { randomBytes } from 'node:crypto';

/** Words that stand for keys whose values nobody knows, each for the length of one call in this process. */
export interface KeyTickets {
  /** Zero: no key has to be looked for here. */
  readonly size: number;
  /** Id of the key that a presented value stands for. */
  keyOf(presented: string): string | undefined;
  /** Word that counts as the key until `end`. */
  issue(key: string): Ticket;
}

export interface Ticket {
  readonly word: string;
  end(): void;
}

const BYTES = 32;

export function createKeyTickets(): KeyTickets {
  const keys = new Map<string, string>();
  return {
    get size() {
      return keys.size;
    },
    keyOf: (presented) => keys.get(presented),
    issue(key) {
      const word = randomBytes(BYTES).toString('base64url');
      keys.set(word, key);
      return { word, end: () => void keys.delete(word) };
    },
  };
}
