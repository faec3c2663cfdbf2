/** Most attempts of one write. */
const MAX_TRIES = 4;
const BASE_MS = 250;
const MAX_MS = 10_000;

/** Statuses of answers that say nothing about whether the write took effect. */
const UNCLEAR = new Set([408, 500, 502, 503, 504]);

export interface TryAgainOptions<T> {
  /** Finds the outcome of the write, if it took effect; asked after an unclear answer. */
  readonly look?: (() => Promise<T | undefined>) | undefined;
  readonly pause?: ((ms: number) => Promise<void>) | undefined;
  /** Nothing is tried again after its abort. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A write that is repeated, within bounds, only when it certainly had no effect: after 429, or after an
 * answer that left it open once a look has shown so. A clear no is not repeated.
 */
export async function triesAgain<T>(
  write: () => Promise<T>,
  { look, pause = wait, signal }: TryAgainOptions<T>,
): Promise<T> {
  let isOpen = false;
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (error) {
      const { status, retryAfterMs, final } = error as Refusal;
      isOpen ||= status === undefined || UNCLEAR.has(status);
      // A conflict may be with an earlier try that took effect late.
      const isClear = status !== undefined && !UNCLEAR.has(status) && status !== 429;
      if (isClear && !(isOpen && status === 409)) throw error;
      const done = isOpen ? await look?.() : undefined;
      if (done !== undefined) return done;
      if (isClear) throw error;
      if (tries === MAX_TRIES || final === true || signal?.aborted === true) throw error;
      await pause(Math.min(retryAfterMs ?? BASE_MS * 2 ** (tries - 1), MAX_MS));
    }
  }
}

/** Facts about a write that failed. */
interface Refusal {
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly final?: boolean;
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
