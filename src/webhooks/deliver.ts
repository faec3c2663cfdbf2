import { isJsonObject } from '../core/json/value.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Log } from '../core/log.ts';
import type { Sealer } from '../core/seal.ts';
import type { JobHandler, JobResult } from '../jobs/jobs.ts';
import { StoreError } from '../store/store.ts';
import type { Entry, Store } from '../store/store.ts';
import type { UrlGuard } from '../upstream/guard/url-guard.ts';
import { deliveryKey, KEPT_ATTEMPTS, operatorDeliveryKey, urlPlace } from './delivery.ts';
import type { Delivery, DeliveryAttempt } from './delivery.ts';
import { sendOnce } from './send-once.ts';
import { signatureHeaders } from './signature.ts';
import type { SigningSecrets } from './signing-secrets.ts';

/** Pauses after the first attempt and the next ones; then it is given up. */
const PAUSES_MS: readonly number[] = [5_000, 30_000, 120_000, 600_000, 3_600_000];
/** A pause is longer by up to so much of itself, so that receivers are not met by all at once. */
const JITTER = 0.25;

export interface DeliverDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly sealer: Sealer;
  readonly guard: UrlGuard;
  readonly secrets: SigningSecrets;
  /** Uniform in [0, 1). */
  random(): number;
  /** Milliseconds for which a delivery that is over is kept in the log. */
  readonly keepMs: number;
  /** The JSON that a message carries, the same whenever it is asked; undefined when it is gone. */
  render(delivery: Delivery): Promise<string | undefined>;
}

/**
 * Delivers one message. The answer is noted before the job continues, so a crash in between repeats the attempt
 * with the same id, and receivers know it by that.
 */
export function createDeliveryJob(deps: DeliverDeps): JobHandler {
  const { store, clock, log, random } = deps;
  return async ({ job, signal }) => {
    const { organization, isOperators } = isJsonObject(job.payload) ? job.payload : {};
    const toKey = isOperators === true ? operatorDeliveryKey : deliveryKey;
    const entry = await store.get<Delivery>(toKey(String(organization), job.id));
    if (!entry) return 'done';
    if (entry.value.status !== 'pending') return doneAt(entry);
    const body = await deps.render(entry.value);
    if (body === undefined) {
      const gone = { at: clock.now(), status: null, outcome: 'expired', ms: 0 };
      return doneAt(await note(entry, { attempt: gone, status: 'failed' }, deps));
    }
    const attempt = await attemptTo(entry.value, { body, signal }, deps);
    const { outcome } = attempt;
    if (outcome === 'delivered')
      return doneAt(await note(entry, { attempt, status: 'delivered' }, deps));
    const { id, subject, tries } = entry.value;
    const pause = PAUSES_MS[tries];
    const status = pause === undefined ? 'failed' : 'pending';
    const noted = await note(entry, { attempt, status }, deps);
    if (pause !== undefined) return { againInMs: pause * (1 + JITTER * random()) };
    log.warn('a webhook was not delivered', { id, subject, outcome, attempts: tries + 1 });
    return doneAt(noted);
  };
}

/** It may be requested again in this moment: then there is another run. */
function doneAt({ key, version }: Pick<Entry, 'key' | 'version'>): JobResult {
  return { doneIf: [{ type: 'check', key, ifVersion: version }] };
}

async function attemptTo(
  { id, organization, sealedUrl }: Delivery,
  { body, signal }: { body: string; signal: AbortSignal },
  { clock, guard, sealer, secrets }: DeliverDeps,
): Promise<DeliveryAttempt> {
  const url = sealer.open(sealedUrl, urlPlace(id));
  const message = { id, at: clock.now(), body };
  const headers = signatureHeaders(message, await secrets.current(organization));
  return sendOnce({ url, headers, body, signal }, { guard, clock });
}

async function note(
  { key, value, version }: Entry<Delivery>,
  { attempt, status }: { attempt: DeliveryAttempt; status: Delivery['status'] },
  { store, keepMs }: DeliverDeps,
): Promise<Pick<Entry, 'key' | 'version'>> {
  const next: Delivery = {
    ...value,
    status,
    tries: value.tries + 1,
    attempts: [...value.attempts, attempt].slice(-KEPT_ATTEMPTS),
  };
  const ttl = status === 'pending' ? {} : { ttlMs: keepMs };
  const result = await store.commit([
    { type: 'put', key, value: next, ifVersion: version, ...ttl },
  ]);
  if (!result.ok) throw new StoreError('unavailable', 'the delivery changed under way');
  return { key, version: result.version };
}
