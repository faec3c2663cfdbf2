import { randomBytes } from 'node:crypto';

/** Tickets that act as keys of unknown value, each for the length of one call in this process. */
export interface KeyTickets {
  /** Zero: no key has to be looked for here. */
  readonly size: number;
  /** Key to which a presented ticket resolves. */
  holderOf(presented: string): KeyHolder | undefined;
  /** Word that counts as the key until `end`. */
  issue(holder: KeyHolder): Ticket;
}

/** Key by one of its values; it is over when that value is. */
export interface KeyHolder {
  /** Id of the key. */
  readonly key: string;
  /** Mark of the value; absent: any of the key. */
  readonly value?: string | undefined;
}

export interface Ticket {
  readonly word: string;
  end(): void;
}

const BYTES = 32;

export function createKeyTickets(): KeyTickets {
  const holders = new Map<string, KeyHolder>();
  return {
    get size() {
      return holders.size;
    },
    holderOf: (presented) => holders.get(presented),
    issue(holder) {
      const word = randomBytes(BYTES).toString('base64url');
      holders.set(word, holder);
      return { word, end: () => void holders.delete(word) };
    },
  };
}
