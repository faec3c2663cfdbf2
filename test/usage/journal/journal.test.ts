import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LiveUsage } from '../../../src/server/compose/open-usage.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { LedgerEntry } from '../../../src/usage/ledger/ledger.ts';
import type { EndRow } from '../../../src/usage/requests/request-row.ts';
import { getRequest, listRequests } from '../../../src/usage/requests/request-log.ts';
import type { PendingClaim } from '../../../src/usage/rates/pending-claim.ts';
import { usageReport } from '../../../src/usage/requests/usage-report.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { recoverOpen } from '../../../src/usage/recovery/recover-open.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import {
  codeOf,
  createFaultyStore,
  createStarts,
  decided,
  outcome,
  principal,
  quietTurns,
  turns,
} from '../usage-fixtures.ts';
import type { FaultyStore } from '../usage-fixtures.ts';
import { openWorker } from './journaled-worker.ts';

const KEY = { kind: 'key', id: 'key_1' } as const;
const LIMIT = 1_000;
const limited = principal({ keySpend: { lifetime: LIMIT }, rpmCap: 100 });
const free = principal({ keyId: 'key_2', organizationId: 'org_2' });

let folder: string;
const clock = createFakeClock();
const start = createStarts(clock);
let rows: Store;
let store: FaultyStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'journal-'));
  rows = { ...openMemoryStore(clock), folder };
  store = createFaultyStore(rows);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const journal = (): string =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');

const linesOf = (kind: 'b' | 'e' | 'c'): number => journal().split(`["${kind}",`).length - 1;

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    clock.advance(100);
    await quietTurns();
  }
}

/** A worker that knows its counters, as after its first calls. */
async function open(settings: Parameters<typeof openWorker>[2] = {}): Promise<LiveUsage> {
  const usage = await openWorker(store, clock, settings);
  for (const who of [limited, free]) {
    if (who.rpmCap !== null) await decided(usage.rates.admitKey(who));
    const entry = usage.ledger.begin(start({ principal: who, bound: 0 }));
    await entry.durable;
    entry.settle(outcome());
  }
  await pass(300);
  store.takeCommits();
  return usage;
}

const begin = ({ ledger }: LiveUsage, bound = 100, who = limited): LedgerEntry =>
  ledger.begin(start({ principal: who, bound }));

describe('the ledger journal', () => {
  it('has claim, begin and reservation of a call in one frame when the call is admitted', async () => {
    const usage = await open();
    expect(usage.rates.admitKey(limited)).toBe(true);
    const entry = begin(usage);
    expect(readdirSync(folder)).toEqual([]);
    await entry.admitted;
    expect(journal().match(/^#/gm)).toHaveLength(1);
    expect([linesOf('c'), linesOf('b')]).toEqual([1, 1]);
    expect(journal()).toContain('100,1,');
    expect(store.takeCommits()).toEqual([]);
  });

  it('writes once for all calls of a turn', async () => {
    const usage = await open();
    const entries = Array.from({ length: 10 }, () => begin(usage));
    entries.push(...Array.from({ length: 10 }, () => begin(usage, 0, free)));
    await Promise.all(entries.map(({ durable }) => durable));
    expect(journal().match(/^#/gm)).toHaveLength(1);
    expect(linesOf('b')).toBe(20);
  });

  it('has the end of a call with a limit before its answer may end', async () => {
    const usage = await open();
    const entry = begin(usage);
    await entry.admitted;
    entry.settle(outcome({ cost: 70 }));
    expect(linesOf('e')).toBe(0);
    await entry.settled;
    expect(linesOf('e')).toBe(1);
    expect(store.takeCommits()).toEqual([]);
  });

  it(
    verifies(
      'store.journal.fold',
      'is folded after 200 ms, or 4,000 lines, and then removed; the sums are those of the calls',
    ),
    async () => {
      const usage = await open();
      const entry = begin(usage);
      await entry.admitted;
      entry.settle(outcome({ cost: 70 }));
      const other = begin(usage, 30);
      await other.admitted;
      clock.advance(199);
      await turns();
      expect(store.takeCommits()).toEqual([]);
      clock.advance(1);
      await turns();
      expect(readdirSync(folder)).toEqual([]);
      const [commit = []] = store.takeCommits();
      expect(commit.filter(({ key }) => key[0] === 'open')).toHaveLength(1);
      expect((await readSpend({ store: rows }, KEY, clock.now())).lifetime).toEqual({
        settled: 70,
        reserved: 30,
      });

      for (let index = 0; index < 2_000; index++)
        begin(usage, 0, free).settle(outcome({ cost: 1 }));
      await turns(60);
      expect(usage.ledger.waiting()).toBe(0);
      clock.advance(200);
      await turns();
      expect(readdirSync(folder)).toEqual([]);
      const records = await rows.list<EndRow>({ prefix: ['req'], limit: 10_000 });
      const cost = records
        .filter(({ value: [[, organization]] }) => organization === 'org_2')
        .reduce((sum, { value }) => sum + value[8], 0);
      expect(cost).toBe(2_000);
      const sums = await rows.list<number[]>({ prefix: ['usage', 'org_2'] });
      expect(sums.reduce((sum, { value }) => sum + (value[3] ?? 0), 0)).toBe(2_000);
    },
  );

  it(verifies('store.journal.readers', 'shows at once what only it holds'), async () => {
    const usage = await open();
    const request = start({ principal: limited, bound: 100 });
    const entry = usage.ledger.begin(request);
    await entry.admitted;
    expect(await getRequest(usage, request.id)).toMatchObject({ result: 'pending' });
    entry.settle(outcome({ cost: 70 }));
    expect(await getRequest(usage, request.id)).toMatchObject({ result: 'ok' });
    expect((await readSpend(usage, KEY, clock.now())).lifetime).toMatchObject({ settled: 70 });
    const other = begin(usage);
    await other.admitted;
    other.settle(outcome({ cost: 5 }));
    const report = await usageReport(usage, { groupBy: ['key'] });
    expect(report.find(({ key }) => key === 'key_1')).toMatchObject({ cost: '0.000000075' });
  });

  it('decides limits by all that it holds', async () => {
    const usage = await open();
    const entries = Array.from({ length: 12 }, () => begin(usage));
    const fates = await Promise.all(entries.map(({ admitted }) => codeOf(admitted, 'in')));
    expect(fates.filter((fate) => fate === 'in')).toHaveLength(10);
    entries[0]?.settle(outcome({ cost: 40 }));
    expect(await codeOf(begin(usage, 61).admitted, 'in')).toBe('key_spending_limit');
    expect(await codeOf(begin(usage, 60).admitted, 'in')).toBe('in');
    expect(
      Array.from({ length: 200 }, () => usage.rates.admitKey(limited)).filter(Boolean),
    ).toHaveLength(99);
  });

  it(
    verifies(
      'store.journal.dead-worker',
      'is folded by another worker when its own is dead, once, even if it is there again',
    ),
    async () => {
      const first = await open();
      expect(first.rates.admitKey(limited)).toBe(true);
      const [ended, under] = [begin(first), begin(first)];
      await Promise.all([ended.admitted, under.admitted]);
      ended.settle(outcome({ cost: 70 }));
      begin(first, 0, free).settle(outcome({ cost: 9 }));
      await ended.settled;
      store.fail('before');
      const files = readdirSync(folder).map(
        (name) => [name, readFileSync(join(folder, name))] as const,
      );
      expect(files).toHaveLength(1);

      store = createFaultyStore(rows);
      const second = await openWorker(store, clock);
      const expectOnce = async (): Promise<void> => {
        expect((await readSpend(second, KEY, clock.now())).lifetime).toEqual({
          settled: 170,
          reserved: 0,
        });
        const [all] = await usageReport(second, {});
        expect(all).toMatchObject({ requests: 5, cost: '0.000000179' });
        expect(await rows.list({ prefix: ['open'] })).toEqual([]);
      };
      await expectOnce();
      expect(readdirSync(folder)).toEqual([]);
      expect(await rows.list({ prefix: ['rpm', 'key', 'key_1'] })).toHaveLength(2);

      for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
      await rows.commit([{ type: 'put', key: ['roster', first.worker], value: null }]);
      await recoverOpen({ store: rows, clock });
      await expectOnce();
      expect(readdirSync(folder)).toEqual([]);
      expect(await rows.list({ prefix: ['rpm', 'key', 'key_1'] })).toHaveLength(2);
    },
  );

  it(
    verifies(
      'limits.conversation-spending',
      'keeps what a conversation has reserved and spent, for whoever folds it',
    ),
    async () => {
      const guarded = principal({ conversationSpend: LIMIT });
      const origin = { conversation: 'one' };
      const first = await open();
      // Its counter is read from the store once.
      first.ledger.begin(start({ principal: guarded, origin })).settle(outcome());
      await pass(300);
      const asked = { principal: guarded, origin, bound: 400 };
      const [ended, under, refused] = [0, 1, 2].map(() => first.ledger.begin(start(asked)));
      await Promise.all([ended?.admitted, under?.admitted]);
      expect(await codeOf(refused?.admitted)).toBe('key_spending_limit');
      expect(journal()).toContain('["conversation","key_1/one"]');
      ended?.settle(outcome({ cost: 300 }));
      await ended?.settled;
      store.fail('before');

      store = createFaultyStore(rows);
      const second = await openWorker(store, clock);
      const scope = { kind: 'conversation', id: 'key_1/one' } as const;
      expect((await readSpend(second, scope, clock.now())).lifetime).toEqual({
        settled: 700,
        reserved: 0,
      });
      const { data } = await listRequests(second, { conversation: 'one' });
      expect(data.map(({ result }) => result)).toEqual(['interrupted', 'ok', 'ok']);
    },
  );

  it('ends when a second worker comes, who sees everything, and limits stay exact', async () => {
    const first = await open();
    const held = Array.from({ length: 6 }, () => begin(first));
    await Promise.all(held.map(({ durable }) => durable));
    const second = await openWorker(createFaultyStore(rows), clock);
    expect(readdirSync(folder)).toEqual([]);
    const entries = Array.from({ length: 10 }, (_, index) => begin(index % 2 ? first : second));
    const fates = await Promise.all(entries.map(({ admitted }) => codeOf(admitted, 'in')));
    expect(fates.filter((fate) => fate === 'in')).toHaveLength(4);
    expect(readdirSync(folder)).toEqual([]);

    await first.close();
    await pass(6_000);
    begin(second, 0, free);
    await turns();
    expect(linesOf('b')).toBe(1);
  });

  it('leaves nothing behind when its worker stops', async () => {
    const usage = await open();
    const entry = begin(usage);
    await entry.admitted;
    entry.settle(outcome({ cost: 70 }));
    await usage.close();
    expect(readdirSync(folder)).toEqual([]);
    expect(await rows.list({ prefix: ['roster'] })).toEqual([]);
    expect((await rows.get(['sole']))?.value).toEqual({ worker: null });
  });

  it('of one of several workers holds calls without a limit alone, for 25 ms', async () => {
    const several = await open({ workers: 2 });
    const held = begin(several);
    await held.admitted;
    expect(readdirSync(folder)).toEqual([]);
    const entry = begin(several, 0, free);
    await entry.durable;
    entry.settle(outcome({ cost: 5 }));
    await turns();
    expect([linesOf('b'), linesOf('e')]).toEqual([1, 1]);
    held.settle(outcome({ cost: 70 }));
    await held.settled;
    expect(linesOf('e')).toBe(1);
    clock.advance(25);
    await turns();
    expect(readdirSync(folder)).toEqual([]);
    const { data } = await listRequests({ store: rows }, { organization: free.organizationId });
    expect(data.map(({ result }) => result)).toContain('ok');
    await several.close();
  });

  it('of one of several busy workers holds calls without a limit alone, for 100 ms', async () => {
    const several = await open({ workers: 2 });
    const handle = async (calls: number): Promise<void> => {
      for (let call = 0; call < calls; call++) {
        const entry = begin(several, call, free);
        await entry.durable;
        entry.settle(outcome({ cost: 5 }));
      }
      await turns();
    };
    const isFolded = async (ms: number): Promise<boolean> => {
      clock.advance(ms);
      await turns();
      return readdirSync(folder).length === 0;
    };
    await handle(16);
    expect(await isFolded(25)).toBe(true);
    await handle(1);
    expect(await isFolded(99)).toBe(false);
    expect(await isFolded(1)).toBe(true);
    await handle(1);
    expect(await isFolded(25)).toBe(true);
    await several.close();
  });

  it('of one of several workers holds no call that a rate turned away before its body came', async () => {
    const capped = principal({ keyId: 'key_3', rpmCap: 1 });
    const several = await open({ workers: 2 });
    const other = await openWorker(createFaultyStore(rows), clock, { workers: 2 });
    expect(await decided(other.rates.admitKey(capped))).toBe(true);
    const claim = several.rates.admitKey(capped) as PendingClaim;
    expect(await claim.decided).toBe(false);
    await pass(100);
    const entry = several.ledger.begin(start({ principal: capped, bound: 0, claims: [claim] }));
    expect(await codeOf(entry.durable, 'begun')).toBe('key_rate_limited');
    expect(readdirSync(folder)).toEqual([]);
    expect(entry.isDurable).toBe(false);
  });

  it('of one of several workers that dies is folded by another, once', async () => {
    const first = await open({ workers: 2 });
    const second = await openWorker(createFaultyStore(rows), clock, { workers: 2 });
    for (const worker of [first, first, second]) {
      const entry = begin(worker, 0, free);
      await entry.durable;
      entry.settle(outcome({ cost: 5 }));
    }
    await turns();
    expect(linesOf('e')).toBe(3);
    await rows.commit([{ type: 'delete', key: ['worker', first.worker] }]);
    await recoverOpen({ store: rows, clock });
    await recoverOpen({ store: rows, clock });
    await pass(100);
    const scope = { kind: 'key', id: free.keyId } as const;
    const { lifetime } = await readSpend({ store: rows }, scope, clock.now());
    expect(lifetime).toMatchObject({ settled: 15 });
    expect(readdirSync(folder).filter((name) => name.includes(first.worker))).toEqual([]);
  });

  it('is not kept where others reach the store', async () => {
    const { folder: _, ...remote } = rows;
    store = createFaultyStore(remote);
    const node = await open();
    await begin(node).admitted;
    await begin(node, 0, free).durable;
    expect(readdirSync(folder)).toEqual([]);
  });

  it('gives way to the store when the disk refuses it, and refuses calls when that fails too', async () => {
    const usage = await open();
    await rm(folder, { recursive: true });
    writeFileSync(folder, '');
    const entry = begin(usage);
    await entry.admitted;
    expect(store.takeCommits()).toHaveLength(1);
    entry.settle(outcome({ cost: 70 }));
    await entry.settled;
    expect((await readSpend({ store: rows }, KEY, clock.now())).lifetime).toEqual({
      settled: 70,
      reserved: 0,
    });
    store.fail('before');
    expect(await codeOf(begin(usage).admitted)).toBe('persistence_failed');
    expect(() => begin(usage)).toThrow('request could not be recorded');
  });

  it('keeps what it took while the store is away, and takes no more', async () => {
    const usage = await open();
    const entry = begin(usage);
    await entry.admitted;
    store.fail('before');
    await pass(300);
    expect(() => begin(usage)).toThrow();
    entry.settle(outcome({ cost: 70 }));
    await entry.settled;
    expect(linesOf('e')).toBe(1);
    store.fail(undefined);
    await pass(1_500);
    expect((await readSpend({ store: rows }, KEY, clock.now())).lifetime).toEqual({
      settled: 70,
      reserved: 0,
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('trusts itself no more when its worker slept beyond its lease', async () => {
    const usage = await open();
    store.fail('before');
    clock.advance(11_000);
    expect(usage.ledger.claims.isJournaling).toBe(false);
  });
});
