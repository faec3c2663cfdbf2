import type { Clock } from '../../core/time/clock.ts';
import type { Store } from '../../store/store.ts';
import { FollowedCalls } from '../recovery/followed-calls.ts';
import { PendingSpend } from '../spend/pending-spend.ts';
import { createSpendCounters } from '../spend/spend-counters.ts';
import { Slices } from '../slices/slices.ts';
import type { LedgerState } from './ledger-plan.ts';
import { CallSums } from '../sums/call-sums.ts';
import { windowsOf } from '../spend/spend.ts';
import { createUnfoldedSpend } from './unfolded-spend.ts';

/** The state of a worker's ledger before its first commit. */
export function createState({
  store,
  clock,
  worker,
  slicing,
}: {
  store: Store;
  clock: Clock;
  worker: string;
  /** True while slices may be used. Default: there are none on the store. */
  slicing?: (() => boolean) | undefined;
}): LedgerState {
  let writers = 0;
  let flights = 0;
  const nextWriter = (): string => `${worker}-${clock.now().toString(36)}-${++writers}`;
  const unfolded = createUnfoldedSpend(worker, nextWriter);
  const pending = new PendingSpend();
  return {
    worker,
    pending,
    unfolded,
    sums: new CallSums(nextWriter, () => windowsOf(clock.now()).day),
    followed: new FollowedCalls(worker),
    takeovers: 0,
    slices: new Slices({ clock, worker, isOn: slicing ?? (() => false) }),
    counters: createSpendCounters({
      store,
      clock,
      isOwn: unfolded.isOwn,
      own: unfolded.own,
      pending,
      slicer: slicing && worker,
    }),
    nextFlight: () => ++flights,
  };
}
