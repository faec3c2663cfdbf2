/** An answer as far as its JSON says it. */
export interface Told {
  readonly status: number;
  readonly body: unknown;
}

interface Waiting {
  /** Path with its query. */
  readonly target: string;
  readonly signal: AbortSignal | undefined;
  resolve(told: Told): void;
  reject(reason: unknown): void;
}

/** Most reads that the gateway answers at once. */
const MOST = 16;

/** Asks for one path, which may be {@link createJoinedReads}' own. Rejects where no answer came. */
export type Ask = (target: string, signal: AbortSignal) => Promise<Told>;

/**
 * Reads that a page makes in one breath are one request, however many of its parts make them. Each has
 * the answer of its own; where the request as a whole is refused, all are.
 */
export function createJoinedReads(
  ask: Ask,
): (target: string, signal?: AbortSignal) => Promise<Told> {
  let waiting: Waiting[] = [];
  const flush = (): void => {
    const due = waiting.filter(({ signal }) => signal?.aborted !== true);
    waiting = [];
    for (let first = 0; first < due.length; first += MOST)
      void askFor(due.slice(first, first + MOST), ask);
  };
  return (target, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      if (waiting.push({ target, signal, resolve, reject }) === 1) queueMicrotask(flush);
    });
}

async function askFor(reads: readonly Waiting[], ask: Ask): Promise<void> {
  const stop = stopOf(reads);
  try {
    const told = await ask(targetOf(reads), stop);
    for (const [index, { resolve }] of reads.entries()) resolve(partOf(told, index, reads.length));
  } catch (thrown) {
    for (const { reject } of reads) reject(thrown);
  }
}

function targetOf(reads: readonly Waiting[]): string {
  const [{ target } = { target: '' }] = reads;
  if (reads.length === 1) return target;
  return `/together?${new URLSearchParams(reads.map((one) => ['read', one.target])).toString()}`;
}

function partOf(told: Told, index: number, count: number): Told {
  if (count === 1 || told.status !== 200) return told;
  const { data } = told.body as { readonly data: readonly Told[] };
  return data[index] as Told;
}

/** Aborts once no caller waits any more. */
function stopOf(reads: readonly Waiting[]): AbortSignal {
  const stop = new AbortController();
  const look = (): void => {
    if (reads.every(({ signal }) => signal?.aborted)) stop.abort();
  };
  for (const { signal } of reads) signal?.addEventListener('abort', look, { once: true });
  return stop.signal;
}
