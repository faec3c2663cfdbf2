// Request records of the last days and their sums, written by the row writers of the product: the rows
// are those that as many calls over HTTP leave behind, for a fraction of the time.
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Operations of one commit, and commits at once. */
const MAX_OPS = 1_000;
const AT_ONCE = 8;
/** Requests of a conversation, and conversations that go on at once. */
const TURNS = 40;
const TALKS = 50;
const KEYS = 20;

/**
 * Records of twenty keys, nine models, seven teams and a conversation for every forty, evenly over the days,
 * and what is summed of the days that are over.
 *
 * @param {{ root: string, store: object, records: number, days: number }} options
 */
export async function fillRecords({ root, store: config, records, days }) {
  const part = (path) => tsImport(join(root, 'src', path), import.meta.url);
  const { openStore } = await part('store/open-store.ts');
  const { systemClock } = await part('core/time/clock.ts');
  const { createIdSource } = await part('core/ids.ts');
  const { NO_USAGE } = await part('core/usage.ts');
  const { requestKey } = await part('usage/ledger/ledger-keys.ts');
  const { toStartRow, toEndRow } = await part('usage/requests/request-row.ts');
  const { endedWith } = await part('usage/ledger/ledger-call.ts');
  const { CallSums } = await part('usage/sums/call-sums.ts');
  const { factsOf } = await part('usage/sums/totals.ts');
  const { digestDays } = await part('usage/sums/digest-days.ts');
  const store = await openStore(config, { clock: systemClock });
  const commits = inTurns(store);
  const end = Date.now();
  let at = end - days * DAY_MS;
  const ids = createIdSource({ ...systemClock, now: () => at });
  let sums;
  let day;
  const endDay = async () => {
    if (sums) for (const ops of slices(sums.ops())) await commits.add(ops);
  };
  let rows = [];
  for (let index = 0; index < records; index++) {
    at = end - Math.ceil((1 - index / records) * days * DAY_MS);
    const row = toEndRow(toStartRow(startOf(index, at)), outcomeOf(index, NO_USAGE), false);
    const facts = factsOf(row);
    if (facts.day !== day) {
      await endDay();
      day = facts.day;
      const writer = `bench-${day}`;
      const today = day;
      sums = new CallSums(
        () => writer,
        () => today,
      ).draft();
    }
    const ended = endedWith(row, facts);
    sums.add(ended, ended.sums);
    rows.push({ type: 'put', key: requestKey(ids.next('req')), value: row });
    if (rows.length < MAX_OPS) continue;
    await commits.add(rows);
    rows = [];
  }
  await commits.add(rows);
  await endDay();
  await commits.end();
  await digestDays(store, new Date(end - HOUR_MS).toISOString().slice(0, 10));
  await store.close();
}

/** Commits a few at once, in no order. */
function inTurns(store) {
  const open = new Set();
  const write = async (ops) => {
    const result = await store.commit(ops);
    if (!result.ok) throw new Error(`a fresh row was taken: ${result.conflict}`);
  };
  return {
    async add(ops) {
      if (ops.length === 0) return;
      const commit = write(ops).finally(() => open.delete(commit));
      open.add(commit);
      if (open.size >= AT_ONCE) await Promise.race(open);
    },
    end: () => Promise.all(open),
  };
}

function* slices(ops) {
  for (let from = 0; from < ops.length; from += MAX_OPS) yield ops.slice(from, from + MAX_OPS);
}

const talkOf = (index) => `talk-${Math.floor(index / (TURNS * TALKS)) * TALKS + (index % TALKS)}`;
const modelOf = (index) => `bench/model-${index % 9}`;

const startOf = (index, at) => ({
  at,
  principal: payer(index % KEYS),
  surface: 'chat',
  model: modelOf(index),
  stream: false,
  origin: {
    conversation: talkOf(index),
    labels: { team: `t${index % 7}` },
  },
});

const payer = (index) => ({
  keyId: `key_${index}`,
  keyName: `key ${index}`,
  organizationId: 'org_bench',
});

const outcomeOf = (index, usage) => ({
  status: 200,
  result: 'ok',
  answeredBy: { model: modelOf(index), provider: 'bench', upstreamModel: 'bench' },
  attempts: [{ provider: 'bench', model: 'bench', status: 200, outcome: 'ok', ms: 300 }],
  usage: { ...usage, input: 200, output: 180 },
  estimated: false,
  cost: 120_000 + (index % 1_000),
  losses: [],
  overheadUs: 300,
  firstContentMs: 120,
  totalMs: 300,
});
