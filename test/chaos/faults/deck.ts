import { CUTS } from '../cut-proxy.ts';
import type { Random } from '../random.ts';
import type { Stage } from '../stage.ts';

export type FaultKind =
  | 'kill'
  | 'kill-worker'
  | 'pause'
  | 'pause-past-lease'
  | 'store-asked'
  | 'store-killed'
  | `cut-${(typeof CUTS)[number]}`
  | 'disk-full';

/** A fault that will happen. */
export interface Fault {
  readonly kind: FaultKind;
  /** Milliseconds since the load began. */
  readonly at: number;
  readonly forMs: number;
  /** Decides whom it hits. */
  readonly lot: number;
}

/** Leases of jobs and of workers have run out by then, in the gateways' time. */
const PAST_LEASE_MS = 33_000;
/** Nothing goes wrong before and behind. */
const CALM = 0.08;

/** Every kind that fits at least once, kills twice; the same for the same seed. */
export function planFaults(
  { backend, disk, time, nodes }: Pick<Stage, 'backend' | 'disk' | 'time' | 'nodes'>,
  { random, seconds, rounds }: { random: Random; seconds: number; rounds: number },
): Fault[] {
  const pastLease = PAST_LEASE_MS / time.rate;
  const kinds: FaultKind[] = ['kill', 'pause', 'kill'];
  if (nodes.some(({ hasWorkers }) => hasWorkers)) kinds.push('kill-worker', 'kill-worker');
  if (backend !== 'lmdb')
    kinds.push('store-asked', 'store-killed', ...CUTS.map((cut) => `cut-${cut}` as const));
  else if (disk) kinds.push('disk-full');
  const all: FaultKind[] = Array.from({ length: rounds }, () => random.shuffled(kinds)).flat();
  const span = seconds * 1000 * (1 - 2 * CALM);
  const start = seconds * 1000 * CALM;
  const step = span / all.length;
  const faults: Fault[] = all.map((kind, index) => ({
    kind,
    at: Math.round(start + step * (index + random.next())),
    forMs: random.between(300, kind.startsWith('cut') ? 3_500 : 2_000),
    lot: random.next(),
  }));
  // They last long, so they go beside the others, and in real time not into a short run.
  const longRounds = pastLease < span ? rounds : 0;
  for (let round = 0; round < longRounds; round++)
    faults.push({
      kind: 'pause-past-lease',
      at: Math.round(start + (span / rounds) * round),
      forMs: Math.round(pastLease + random.between(0, 1_500)),
      lot: random.next(),
    });
  return faults.sort((a, b) => a.at - b.at);
}
