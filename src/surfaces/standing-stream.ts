import type { Clock, Timer } from '../core/time/clock.ts';
import { checkRights, enter, principalOf } from './gate.ts';
import type { Admitted, GateDeps, KeyInUse } from './gate.ts';

export interface KeyWatchDeps extends Pick<GateDeps, 'lookup'> {
  readonly clock: Clock;
}

/** A stream looks so often whether its key may still follow it, in milliseconds. */
const LOOK_MS = 500;

/**
 * Ends the stream within 1 s once the key is revoked, loses the scope, or cannot be checked. Rates do not
 * count: the stream is one request. Returns a function that ends the watch.
 */
export function watchKey(
  end: () => void,
  { key = '', need }: KeyInUse,
  { lookup, clock }: KeyWatchDeps,
): () => void {
  let timer: Timer;
  let isWatched = true;
  const check = async (): Promise<void> => checkRights(principalOf(await lookup(key)), need);
  const look = (): void =>
    void check().then(again, () => {
      if (isWatched) end();
    });
  const again = (): void => {
    if (isWatched) timer = clock.setTimeout(look, LOOK_MS);
  };
  again();
  return () => {
    isWatched = false;
    timer.cancel();
  };
}

/**
 * Gives a stream a slot of its own in place of that of the call that opened it: open streams of a key are
 * capped like its calls, but apart from them, so that a client can call while it follows.
 *
 * @throws GatewayError `key_concurrency_exceeded`
 */
export async function takeStreamPlace(
  { principal, leave }: Admitted,
  deps: Pick<GateDeps, 'concurrency'>,
): Promise<() => void> {
  if (principal.concurrencyCap === null) return leave;
  try {
    return await enter({ ...principal, keyId: `${principal.keyId}/stream` }, deps);
  } finally {
    leave();
  }
}
