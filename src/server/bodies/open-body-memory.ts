import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';
import { ByteBudget } from '../../core/memory/byte-budget.ts';

/** Part of the heap limit that bodies may take where nothing is set. */
const HEAP_SHARE = 1 / 4;
/** Longest wait for room; a body has the same time again to arrive. */
const MAX_WAIT_MS = 10_000;
const MAX_WAITING = 1024;
/** One line of the log in this time says that bodies wait. */
const TELL_EVERY_MS = 60_000;

export interface BodyMemoryOptions {
  readonly config: Pick<ServerConfig, 'limits' | 'metrics'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Heap limit of the process, in bytes. */
  readonly heapLimit: number;
}

/**
 * The memory of all request bodies under way in this process (config: limits.body_memory). A body as
 * large as one may be always fits when nothing else is held. Metrics report how full it is.
 */
export async function openBodyMemory(options: BodyMemoryOptions): Promise<ByteBudget> {
  const { config, clock, heapLimit } = options;
  const { bodyBytes, bodyMemoryBytes, requestTimeoutMs } = config.limits;
  const bytes = Math.max(bodyMemoryBytes ?? Math.floor(heapLimit * HEAP_SHARE), bodyBytes);
  const budget: ByteBudget = new ByteBudget({
    clock,
    bytes,
    waitMs: Math.min(MAX_WAIT_MS, requestTimeoutMs / 2),
    maxWaiting: MAX_WAITING,
    onWaiting: tellNowAndThen(options, bytes),
  });
  if (config.metrics.listen) {
    const { createBodyGauges } = await import('../process/metrics.ts');
    await createBodyGauges(budget);
  }
  return budget;
}

function tellNowAndThen({ clock, log }: BodyMemoryOptions, bytes: number): () => void {
  let lastAt = -Infinity;
  return () => {
    const now = clock.monotonic();
    if (now - lastAt < TELL_EVERY_MS) return;
    lastAt = now;
    log.warn('request bodies wait for memory', { setting: 'server.limits.body_memory', bytes });
  };
}
