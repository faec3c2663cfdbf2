import type { Rights } from '../../core/access.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { ClientConnection } from '../../inference/types.ts';
import { watchClient } from '../../surfaces/http-exchange.ts';
import type { HttpExchange } from '../../surfaces/http-exchange.ts';
import type { Claim, IdempotencyRecords } from './records.ts';
import type { CallPlace } from './row.ts';

/** Longest wait of a repeat for the call that is under way. */
const WAIT_MS = 30_000;
/** A process that died sends no signal, and the store may deliver those of others late. */
const LOOK_AGAIN_MS = 1_000;

export interface Claiming {
  readonly place: CallPlace;
  readonly fingerprint: string;
  readonly rights: Rights;
  readonly exchange: HttpExchange;
}

export interface ClaimDeps {
  readonly clock: Clock;
  readonly records: IdempotencyRecords;
}

export interface Claimed {
  /** Name and scope of the claimed call. */
  readonly place: CallPlace;
  readonly claim: Claim;
}

/** Claims a call by its name; waits for one that is under way. */
export async function claimNamed(claiming: Claiming, deps: ClaimDeps): Promise<Claimed> {
  const { place } = claiming;
  const mayWait = createWait(claiming, deps);
  const attempt = attemptOf(claiming);
  for (;;) {
    const claim = await deps.records.claim(attempt);
    if (claim.type !== 'under-way' || !(await mayWait())) return { place, claim };
  }
}

/** Claims a call that is none of those alike. */
export async function claimFirst(claiming: Claiming, { records }: ClaimDeps): Promise<Claimed> {
  const place = { ...claiming.place, call: claiming.exchange.id };
  return { place, claim: await records.claim({ ...attemptOf(claiming), place }) };
}

/**
 * Claims for a second attempt one of the calls alike whose client did not get the outcome, and
 * waits for those under way now. Where all got it, the call of this client never arrived.
 */
export async function claimAgain(claiming: Claiming, deps: ClaimDeps): Promise<Claimed> {
  const { records } = deps;
  const mayWait = createWait(claiming, deps);
  const attempt = attemptOf(claiming);
  let calls = await records.callsAlike(claiming.place);
  for (;;) {
    const underWay: CallPlace[] = [];
    for (const place of calls) {
      const claim = await records.claimKnown({ ...attempt, place });
      if (claim?.type === 'under-way') underWay.push(place);
      else if (claim) return { place, claim };
    }
    if (underWay.length === 0) return claimFirst(claiming, deps);
    if (!(await mayWait())) return { place: claiming.place, claim: { type: 'under-way' } };
    calls = underWay;
  }
}

const attemptOf = ({ place, fingerprint, rights, exchange }: Claiming) => ({
  place,
  fingerprint,
  rights,
  request: exchange.id,
});

/** Waits for the next change, for as long as the client is there; resolves with false once it waited too long. */
function createWait({ place, exchange }: Claiming, deps: ClaimDeps): () => Promise<boolean> {
  const until = deps.clock.monotonic() + WAIT_MS;
  const client = watchClient(exchange.response);
  return async () => {
    if (client.gone || deps.clock.monotonic() >= until) return false;
    await nextChange(place, client, deps);
    return true;
  };
}

function nextChange(
  place: CallPlace,
  client: ClientConnection,
  { clock, records }: ClaimDeps,
): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(done, LOOK_AGAIN_MS);
    const stopWatching = records.watch(place, done);
    const forget = client.onGone(done);
    function done(): void {
      timer.cancel();
      stopWatching();
      forget();
      resolve();
    }
  });
}
