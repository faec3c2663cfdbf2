import { PerformanceObserver } from 'node:perf_hooks';
import v8 from 'node:v8';

/**
 * Most bytes of the young generation, of which half is in use at a time. Of 4, 8, 16 and 32 MiB to a half,
 * 8 has the smallest product of CPU and memory under load.
 */
export const YOUNG_GENERATION_BYTES = 2 * 8 * 1024 * 1024;

const GROWTH = 2;
const NO_GROWTH = 1;
/** An operator who sets a size by a flag of Node.js gets that one. */
const OWN_YOUNG = /--(?:min|max)[-_]semi[-_]space[-_]size|--semi[-_]space[-_]growth[-_]factor/;
const OWN_OLD = /--heap[-_]growing[-_]percent/;
/**
 * Garbage of the old generation in percent of live objects, at which it is collected. V8's default
 * is up to four times as much; of 50, 70, 100 and 150, 100 takes a fifth less memory at equal CPU.
 */
const OLD_GARBAGE_PERCENT = 100;

export interface HeapBoundsOptions {
  /** Flags that this process was started with, those of `NODE_OPTIONS` included. */
  readonly flags: string;
}

/** Bounds what both generations of the heap of this process take. Returns what ends the watch. */
export function boundHeap({ flags }: HeapBoundsOptions): () => void {
  if (!OWN_OLD.test(flags)) v8.setFlagsFromString(`--heap-growing-percent=${OLD_GARBAGE_PERCENT}`);
  return OWN_YOUNG.test(flags) ? () => undefined : boundYoungGeneration();
}

/**
 * Keeps the young generation of this process from growing beyond {@link YOUNG_GENERATION_BYTES}.
 * V8 takes its limit only at the start, as a flag, which needs a second process; its growth factor
 * is read each time, so growing is switched off while a step would exceed it, and on again when V8
 * made it smaller. Returns what ends the watch.
 */
function boundYoungGeneration(): () => void {
  let growth = GROWTH;
  const adapt = (): void => {
    const wanted = youngBytes() * GROWTH > YOUNG_GENERATION_BYTES ? NO_GROWTH : GROWTH;
    if (wanted === growth) return;
    growth = wanted;
    v8.setFlagsFromString(`--semi-space-growth-factor=${growth}`);
  };
  adapt();
  const observer = new PerformanceObserver(adapt);
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

/** Bytes that V8 has set aside for it. */
function youngBytes(): number {
  const space = v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return space?.space_size ?? 0;
}
