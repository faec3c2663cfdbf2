/** One call that the mock received. */
export interface MockCall {
  /** Counts from 1. */
  readonly index: number;
  /** Milliseconds since epoch. */
  readonly at: number;
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  /** Undefined when the body names none. */
  readonly model: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Body as received; cut at 256 KiB. */
  readonly body: Buffer;
  /** End of the answer: still playing, whole, cut by the cassette, or the caller went away. */
  outcome: 'open' | 'done' | 'cut' | 'aborted';
}

export interface Journal {
  add(call: Omit<MockCall, 'index' | 'outcome'>): MockCall;
  calls(): readonly MockCall[];
  clear(): void;
}

const MAX_CALLS = 1000;
const MAX_BODY = 262_144;
const MAX_TOTAL = 16_777_216;

/** Keeps the newest calls: at most 1,000, and at most 16 MiB of bodies. */
export function createJournal(): Journal {
  let kept: MockCall[] = [];
  let total = 0;
  let count = 0;
  return {
    add({ body, ...rest }) {
      const call: MockCall = {
        index: ++count,
        body: body.length > MAX_BODY ? Buffer.from(body.subarray(0, MAX_BODY)) : body,
        outcome: 'open',
        ...rest,
      };
      kept.push(call);
      total += call.body.length;
      while (kept.length > MAX_CALLS || total > MAX_TOTAL) total -= kept.shift()?.body.length ?? 0;
      return call;
    },
    calls: () => kept,
    clear() {
      kept = [];
      total = 0;
      count = 0;
    },
  };
}
