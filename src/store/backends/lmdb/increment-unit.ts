import { addToCounter } from '../../counter.ts';
import { StoreError } from '../../store.ts';
import { fromEnvelope, toEnvelope } from '../../value-codec.ts';
import { putRow, type Settle, type UnitContext } from './commit-unit.ts';
import type { WriteUnit } from './group-writer.ts';

const MAX_TRIES = 1_000;

interface Increment extends Settle<number> {
  by: number;
  /** Deadline of the counter if this increment makes it appear. */
  expiresAt: number;
}

/** All increments of one counter that wait for the same group; each learns its own sum. */
export interface IncrementUnit extends WriteUnit {
  add(increment: Increment): void;
}

/**
 * Reads, adds and writes back on condition that there was no write in between; one process always wins, and the
 * others take part in the next group. `onClosed` is called when no further increments may be added.
 */
export function createIncrementUnit(
  { environment, steady }: UnitContext,
  { bytes, id, onClosed }: { bytes: Buffer; id: string; onClosed: () => void },
): IncrementUnit {
  let waiting: Increment[] = [];
  let sums: number[] = [];
  let tries = 0;

  const fail = (error: unknown): void => {
    // A unit that failed before it was issued never will be: no increment may join it and wait for that.
    onClosed();
    for (const increment of waiting) increment.reject(error);
  };

  return {
    size: 0,
    add: (increment) => void waiting.push(increment),
    issue(version) {
      onClosed();
      tries++;
      const row = environment.peek(bytes);
      const current = row && row.expiresAt > steady.now() ? row : undefined;
      ({ waiting, sums } = sumUp(waiting, current && fromEnvelope(current.envelope)));
      const [first] = waiting;
      if (!first) return [];
      const envelope = toEnvelope(sums.at(-1));
      const expiresAt = current ? current.expiresAt : first.expiresAt;
      const write = (): void => putRow(environment, { bytes, envelope, expiresAt }, version);
      const { data } = environment;
      return [row ? data.ifVersion(bytes, row.version, write) : data.ifNoExists(bytes, write)];
    },
    done([written]) {
      if (written === false && tries < MAX_TRIES) return 'again';
      if (written === false) {
        fail(new StoreError('unavailable', 'too many processes write one counter'));
      }
      if (written !== true) return [];
      for (const [i, increment] of waiting.entries()) increment.resolve(sums[i]!);
      return [id];
    },
    fail,
  };
}

/** The running sums; only an increment that cannot be added fails. */
function sumUp(
  increments: readonly Increment[],
  start: unknown,
): { waiting: Increment[]; sums: number[] } {
  const sums: number[] = [];
  const waiting = increments.filter((increment) => {
    try {
      sums.push(addToCounter(sums.at(-1) ?? start, increment.by));
      return true;
    } catch (error) {
      increment.reject(error);
      return false;
    }
  });
  return { waiting, sums };
}
