import type { Clock } from '../core/clock.ts';
import { GatewayError } from '../core/errors.ts';
import type { KeyDirectory } from '../resources/key-directory.ts';
import type { KeyFound, KeyLookup } from '../surfaces/gate.ts';

export interface KeyLookupDeps {
  keys: Pick<KeyDirectory, 'lookup'>;
  /** Sees every change that was committed before, or rejects. */
  catchUp(): Promise<void>;
  clock: Clock;
}

/** Guesses must not become the load of the store. */
const MAX_CATCH_UPS_PER_SECOND = 20;

/**
 * A key that was made a moment ago, perhaps by another process, is known before it is refused; while
 * many unknown keys are tried, it is known with the next look at the changes.
 *
 * @throws GatewayError `persistence_failed` when the store cannot tell whether a key is known
 */
export function createKeyLookup({ keys, catchUp, clock }: KeyLookupDeps): KeyLookup {
  let second = 0;
  let used = 0;

  const mayCatchUp = (): boolean => {
    const now = Math.floor(clock.monotonic() / 1000);
    if (now !== second) used = 0;
    second = now;
    return used++ < MAX_CATCH_UPS_PER_SECOND;
  };

  const again = async (key: string): Promise<KeyFound> => {
    try {
      await catchUp();
    } catch (cause) {
      throw new GatewayError('persistence_failed', { cause });
    }
    return keys.lookup(key);
  };

  return (key) => {
    const found = keys.lookup(key);
    return found === 'unknown' && mayCatchUp() ? again(key) : found;
  };
}
