import type { Clock } from '../../core/time/clock.ts';
import type { KeyDirectory } from '../../resources/kinds/key-directory.ts';
import type { KeyFound, KeyLookup } from '../../surfaces/gate.ts';
import type { KeyTickets } from '../console/key-tickets.ts';

export interface KeyLookupDeps {
  keys: Pick<KeyDirectory, 'lookup' | 'find'>;
  /** Tickets that resolve to keys. */
  tickets: Pick<KeyTickets, 'size' | 'holderOf'>;
  /** Sees every change that was committed before, or rejects. */
  catchUp(): Promise<void>;
  /** Age of the last known state of changes, in milliseconds. */
  ageMs(): number;
  clock: Clock;
}

/** Guesses must not become the load of the store. */
const MAX_CATCH_UPS_PER_SECOND = 20;
/** A key is refused everywhere so soon after its revocation (requirement auth.key.revoked-message). */
const MAX_AGE_MS = 1_000;

/**
 * A key that was made a moment ago, perhaps by another process, is known before it is refused; while
 * many unknown keys are tried, it is known with the next look at the changes. A process that was cut off
 * from the store, or asleep, looks first: the key may have been revoked. Rejects with what kept it from
 * looking, a `StoreError`.
 */
export function createKeyLookup({
  keys,
  tickets,
  catchUp,
  ageMs,
  clock,
}: KeyLookupDeps): KeyLookup {
  let second = 0;
  let used = 0;

  const mayCatchUp = (): boolean => {
    const now = Math.floor(clock.monotonic() / 1000);
    if (now !== second) used = 0;
    second = now;
    return used++ < MAX_CATCH_UPS_PER_SECOND;
  };

  const find = (key: string): KeyFound => {
    const holder = tickets.size === 0 ? undefined : tickets.holderOf(key);
    return holder ? keys.find(holder.key, holder.value) : keys.lookup(key);
  };

  const again = async (key: string): Promise<KeyFound> => {
    await catchUp();
    return find(key);
  };

  return (key) => {
    if (ageMs() >= MAX_AGE_MS) return again(key);
    const found = find(key);
    return found === 'unknown' && mayCatchUp() ? again(key) : found;
  };
}

/** Gives the mark of the key value to which a presented ticket or value resolves. */
export function createValueLookup({
  keys,
  tickets,
}: {
  keys: Pick<KeyDirectory, 'valueOf'>;
  tickets: Pick<KeyTickets, 'holderOf'>;
}): (presented: string) => string | undefined {
  return (presented) => {
    const holder = tickets.holderOf(presented);
    return holder ? holder.value : keys.valueOf(presented);
  };
}
