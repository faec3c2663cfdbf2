import type { Chat } from '../journal.ts';
import { CALL_PRICE } from '../stage.ts';
import type { Stage } from '../stage.ts';
import { costOf, marksIn } from '../upstream.ts';
import type { UpstreamCall } from '../upstream.ts';
import { readAll, toProof } from './pages.ts';
import type { Proof } from './pages.ts';

/** A request record as `GET /admin/v1/requests` tells it. */
export interface LedgerRecord {
  readonly id: string;
  readonly key: { readonly id: string; readonly name: string };
  readonly surface: string;
  readonly model: string;
  readonly stream: boolean;
  readonly result: string;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly cost: string;
  readonly estimated: boolean;
  /** Whom it was sent to; empty where it never was. */
  readonly attempts: readonly { readonly status: number | null }[];
  readonly content?: { readonly request: string };
}

export const readLedger = (stage: Stage): Promise<LedgerRecord[]> =>
  readAll(stage, stage.nodes[0]!, '/admin/v1/requests?limit=500');

const MICRO = 1e6;

/** Compares what the gateways recorded with what the provider saw and the clients were told. */
export async function proveLedger(
  stage: Stage,
  records: readonly LedgerRecord[],
): Promise<Proof[]> {
  const byMark = new Map<string, LedgerRecord[]>();
  for (const record of records) {
    const mark = marksIn(record.content?.request ?? '').at(-1);
    if (mark === undefined) continue;
    byMark.set(mark, [...(byMark.get(mark) ?? []), record]);
  }
  return [
    proveCalls(stage, records, byMark),
    proveCosts(stage, records, byMark),
    proveCharged(stage, records),
    await proveSums(stage, records),
  ];
}

type ByMark = ReadonlyMap<string, readonly LedgerRecord[]>;

/** Each call at the provider has one record, and each record that was settled has its call. */
function proveCalls(stage: Stage, records: readonly LedgerRecord[], byMark: ByMark): Proof {
  const faults: string[] = [];
  const { calls } = stage.upstream;
  const seen = new Map<string, UpstreamCall[]>();
  for (const call of calls) seen.set(call.mark, [...(seen.get(call.mark) ?? []), call]);
  // The record of a gateway that died holds no words: it can be told by who paid for what only.
  const lost = new Map<string, number>();
  for (const record of records) {
    if (record.error_code !== 'worker_lost') continue;
    lost.set(groupOf(record), (lost.get(groupOf(record)) ?? 0) + 1);
  }
  const chats = new Map(stage.journal.chats.map((chat) => [chat.mark, chat]));
  const missing = new Map<string, number>();
  for (const [mark, own] of seen) {
    const tried = (byMark.get(mark) ?? []).filter(({ attempts }) => attempts.length > 0);
    const found = tried.length;
    // What was broken off may have been so on its way to the provider.
    const answered = tried.filter(({ attempts }) => attempts.some(({ status }) => status !== null));
    const chat = chats.get(mark);
    if (chat && own.length > 1) faults.push(`${mark} was sent ${own.length} times`);
    if (answered.length > own.length)
      faults.push(`${mark}: ${answered.length} answers recorded, ${own.length} calls`);
    const group = chat ? groupOf(toGroup(chat)) : 'session';
    if (mayLackRecord(stage, chat)) continue;
    if (found < own.length) missing.set(group, (missing.get(group) ?? 0) + own.length - found);
  }
  for (const [group, count] of missing)
    if (count > (lost.get(group) ?? 0))
      faults.push(`${group}: ${count} calls without a record, ${lost.get(group) ?? 0} interrupted`);
  for (const [mark, own] of byMark)
    for (const { id, result } of own)
      if (result === 'ok' && !seen.has(mark)) faults.push(`${id} has no call`);
  return toProof('every call has one record, every settled record a call', calls.length, faults);
}

/** Without a limit a gateway may die before the start of a call is stored that the client saw nothing of yet. */
function mayLackRecord({ ledger, keys }: Stage, chat: Chat | undefined): boolean {
  if (ledger === 'before_call') return false;
  return !chat || (!chat.isAnswered && keys.limited.every(({ id }) => id !== chat.keyId));
}

const groupOf = ({ surface, key, model, stream }: Group): string =>
  surface !== 'chat' ? 'session' : `${key.id} ${model} ${stream ? 'streamed' : 'whole'}`;

type Group = Pick<LedgerRecord, 'surface' | 'key' | 'model' | 'stream'>;

const toGroup = ({ keyId, model, isStream }: Chat): Group => ({
  surface: 'chat',
  key: { id: keyId, name: '' },
  model: `chaos/${model}`,
  stream: isStream,
});

/**
 * Whoever was answered has a record of that id with the right cost. Of a gateway that died or slept then it
 * may be an estimate, which is not less.
 */
function proveCosts(stage: Stage, records: readonly LedgerRecord[], byMark: ByMark): Proof {
  const faults: string[] = [];
  const byId = new Map(records.map((record) => [record.id, record]));
  const calls = new Map(stage.upstream.calls.map((call) => [call.mark, call]));
  let checked = 0;
  for (const { mark, model, isAnswered, reply } of stage.journal.chats) {
    if (!isAnswered) continue;
    checked++;
    const record = byId.get(reply.requestId);
    const call = calls.get(mark);
    if (!record || !call) {
      faults.push(`${mark} was answered without a ${record ? 'call' : 'record'}`);
      continue;
    }
    const expected = model === 'flat' ? CALL_PRICE : costOf(call) / MICRO;
    const isRight = record.result === 'ok' && Math.abs(Number(record.cost) - expected) < 1e-9;
    const isEnough = record.estimated && Number(record.cost) > expected - 1e-9;
    const isEstimate = isEnough && reply.node.wasTroubled(reply.sentAt, Infinity);
    if (!isRight && !isEstimate)
      faults.push(`${record.id} ${mark}: ${record.result} ${record.cost}, not ${expected}`);
    const others = byMark.get(mark)?.filter(({ id }) => id !== record.id) ?? [];
    if (others.length > 0) faults.push(`${mark} has ${others.length + 1} records`);
  }
  return toProof('what was answered costs what the provider said', checked, faults);
}

/** What a key was charged for its chats is never less than what the provider counted for those answered. */
function proveCharged(stage: Stage, records: readonly LedgerRecord[]): Proof {
  const faults: string[] = [];
  const calls = new Map(stage.upstream.calls.map((call) => [call.mark, call]));
  const counted = new Map<string, number>();
  for (const { mark, keyId, model, isAnswered } of stage.journal.chats) {
    const call = calls.get(mark);
    if (!isAnswered || !call) continue;
    const price = model === 'flat' ? CALL_PRICE : costOf(call) / MICRO;
    counted.set(keyId, (counted.get(keyId) ?? 0) + price);
  }
  for (const [keyId, price] of counted) {
    const charged = records
      .filter(({ key, surface }) => key.id === keyId && surface === 'chat')
      .reduce((sum, { cost }) => sum + Number(cost), 0);
    if (charged < price - 1e-9) faults.push(`${keyId}: charged ${charged}, counted ${price}`);
  }
  return toProof('the sum charged is not below what the provider counted', counted.size, faults);
}

/** The sums of the usage report are those of the records. */
async function proveSums(stage: Stage, records: readonly LedgerRecord[]): Promise<Proof> {
  const costs = new Map<string, number>();
  for (const { key, cost } of records) costs.set(key.id, (costs.get(key.id) ?? 0) + Number(cost));
  const report = await readAll(stage, stage.nodes.at(-1)!, '/admin/v1/usage?group_by=key');
  const told = new Map(report.map(({ key, cost }) => [String(key), Number(cost)]));
  const faults = [...costs]
    .filter(([key, cost]) => Math.abs((told.get(key) ?? 0) - cost) > 1e-7)
    .map(([key, cost]) => `${key}: the records say ${cost}, the report ${told.get(key) ?? 0}`);
  return toProof('the usage report is the sum of the records', costs.size, faults);
}
