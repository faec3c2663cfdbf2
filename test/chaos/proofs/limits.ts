import type { Chat } from '../journal.ts';
import { chat } from '../load/chats.ts';
import { CALL_PRICE, RPM_CAP, SPENDING_LIMIT } from '../stage.ts';
import type { Stage } from '../stage.ts';
import { toProof } from './pages.ts';
import type { LedgerRecord } from './ledger.ts';
import type { Proof } from './pages.ts';

const MINUTE = 60_000;
const CALLS = Math.round(SPENDING_LIMIT / CALL_PRICE);

/**
 * The records of a key never exceed its limit, nor do the calls of it that the provider saw, but for
 * those that were broken off. What is left can be spent to the end, and nothing beyond.
 */
export async function proveSpending(
  stage: Stage,
  readRecords: () => Promise<readonly LedgerRecord[]>,
): Promise<Proof> {
  const faults: string[] = [];
  const before = await readRecords();
  let checked = 0;
  for (const key of stage.keys.limited) {
    const used = callsOf(before, key.id).charged;
    let more = 0;
    while (more <= CALLS && (await chat(stage, { key, what: 'chat.rest' })).status === 200) more++;
    const { charged, free } = callsOf(await readRecords(), key.id);
    const marks = new Set(chatsOf(stage, key.id).map(({ mark }) => mark));
    const seen = stage.upstream.calls.filter(({ mark }) => marks.has(mark)).length;
    checked += seen;
    if (used + more !== CALLS)
      faults.push(`${key.id}: ${used} of ${CALLS} calls charged, then ${more} more were let in`);
    if (charged > CALLS) faults.push(`${key.id}: ${charged} calls charged`);
    if (seen > CALLS + free)
      faults.push(`${key.id}: ${seen} calls at the provider, ${free} of them free of charge`);
  }
  return toProof('no spending limit was exceeded, and all of it can be spent', checked, faults);
}

function callsOf(records: readonly LedgerRecord[], keyId: string) {
  const own = records.filter(({ key }) => key.id === keyId);
  const cost = own.reduce((sum, record) => sum + Number(record.cost), 0);
  // Whose client left before the answer, or whose gateway stopped or slept too long, pays nothing; one that
  // died charges by estimate.
  const free = own.filter(
    ({ result, cost, estimated, error_code: code }) =>
      Number(cost) === 0 &&
      code !== 'worker_lost' &&
      (estimated || /aborted|interrupted/.test(result) || code === 'shutting_down'),
  );
  return { charged: Math.round(cost / CALL_PRICE), free: free.length };
}

const chatsOf = ({ journal }: Stage, keyId: string): Chat[] =>
  journal.chats.filter((chat) => chat.keyId === keyId);

/** In no minute of the gateways' time were more requests let in than the cap allows. */
export function proveRate(stage: Stage): Proof {
  const seen = new Set(stage.upstream.calls.map(({ mark }) => mark));
  const admitted = chatsOf(stage, stage.keys.rated.id)
    .filter(({ mark }) => seen.has(mark))
    .map(({ reply: { sentAt, doneAt } }) => ({ sentAt, doneAt }));
  const faults: string[] = [];
  // A request was let in between its sending and its answer; only what lies wholly in a window counts.
  const windowMs = MINUTE / stage.time.rate;
  for (const { sentAt: from } of admitted) {
    const within = admitted.filter(
      ({ sentAt, doneAt }) => sentAt >= from && doneAt < from + windowMs,
    ).length;
    if (within > RPM_CAP) faults.push(`${within} requests within a minute, the cap is ${RPM_CAP}`);
  }
  return toProof('no rate limit was exceeded', admitted.length, faults);
}
