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
/** Part of a run for which something may go wrong. */
const LONGEST = 0.06;
const SHORTEST_MS = 250;

export interface Plan {
  readonly random: Random;
  readonly seconds: number;
  readonly rounds: number;
  /** How often one round kills. */
  readonly kills: number;
}

/** Every kind that fits in each round; the same for the same seed. */
export function planFaults(
  { backend, disk, time, nodes }: Pick<Stage, 'backend' | 'disk' | 'time' | 'nodes'>,
  { random, seconds, rounds, kills }: Plan,
): Fault[] {
  const pastLease = PAST_LEASE_MS / time.rate;
  const kinds: FaultKind[] = ['pause'];
  for (let kill = 0; kill < kills; kill++) {
    kinds.push('kill');
    if (nodes.some(({ hasWorkers }) => hasWorkers)) kinds.push('kill-worker');
  }
  if (backend !== 'lmdb')
    kinds.push('store-asked', 'store-killed', ...CUTS.map((cut) => `cut-${cut}` as const));
  else if (disk) kinds.push('disk-full');
  const all: FaultKind[] = Array.from({ length: rounds }, () => random.shuffled(kinds)).flat();
  const span = seconds * 1000 * (1 - 2 * CALM);
  const start = seconds * 1000 * CALM;
  const step = span / all.length;
  // Those of the store wait for each other, so in a short run they are short.
  const longest = (most: number): number =>
    Math.min(most, Math.max(SHORTEST_MS * 2, span * LONGEST));
  const faults: Fault[] = all.map((kind, index) => ({
    kind,
    at: Math.round(start + step * (index + random.next())),
    forMs: random.between(SHORTEST_MS, longest(kind.startsWith('cut') ? 3_500 : 2_000)),
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
