import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../src/audit/audit-entry.ts';
import { CUT, entryKey } from '../../src/audit/audit-rows.ts';
import { getAudit, listAudit } from '../../src/audit/read-audit.ts';
import type { AuditFilter, AuditQuery } from '../../src/audit/read-audit.ts';
import { createIdSource } from '../../src/core/ids.ts';
import type { Entry, Key, ListOptions } from '../../src/store/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { NOTE } from './make-audit.ts';

const START = Date.UTC(2026, 10, 21);
const SECOND = 1_000;

/** Entries a second apart, in the order of their ids. */
function entriesOf(count: number, change: (entry: AuditEntry, n: number) => AuditEntry = (e) => e) {
  const clock = createFakeClock(START);
  const ids = createIdSource(clock);
  const { origin, ...note } = NOTE;
  return Array.from({ length: count }, (_, n) => {
    const entry: AuditEntry = {
      ...note,
      id: ids.next('aud'),
      at: new Date(clock.now()).toISOString(),
      actor: origin.actor,
      from: origin.from,
      request_id: `req_${n}`,
      chain: 0,
      number: n + 1,
      hash: '',
    };
    clock.advance(SECOND);
    return change(entry, n);
  });
}

function storeOf(entries: readonly AuditEntry[], removedAt?: number) {
  const asked: ListOptions[] = [];
  const toEntry = <T>(value: unknown, key: Key): Entry<T> => ({
    key,
    value: value as T,
    version: '1',
  });
  return {
    asked,
    async get<T>(key: Key): Promise<Entry<T> | undefined> {
      if (key[0] === CUT[0])
        return removedAt === undefined ? undefined : toEntry({ seal: { at: removedAt } }, key);
      const found = entries.find(({ id }) => id === key[1]);
      return found && toEntry(found, key);
    },
    async list<T>(options: ListOptions): Promise<Entry<T>[]> {
      asked.push(options);
      const { after, limit } = options;
      const before = after === undefined ? undefined : String(after[1]);
      return entries
        .filter(({ id }) => before === undefined || id < before)
        .toReversed()
        .slice(0, limit)
        .map((value) => toEntry<T>(value, entryKey(value.id)));
    },
  };
}

const numbersOf = (data: readonly { number: number }[]): number[] => data.map((one) => one.number);

async function numbers(filter: AuditQuery, entries: readonly AuditEntry[]): Promise<number[]> {
  return numbersOf((await listAudit(storeOf(entries), { limit: 100, ...filter })).data);
}

describe('listing the audit log', () => {
  it('shows the newest first, twenty unless it is told', async () => {
    const entries = entriesOf(25);
    const page = await listAudit(storeOf(entries));
    expect(numbersOf(page.data)).toEqual(Array.from({ length: 20 }, (_, n) => 25 - n));
    expect(page.data[0]).toEqual({ ...entries[24], type: 'audit_entry' });
    expect(page.next_page).toEqual(expect.any(String));
  });

  it.each([
    [0, 1],
    [-5, 1],
    [3, 3],
    [1_000, 1_000],
    [1_001, 1_000],
  ])('takes a limit of %d for %d', async (limit, count) => {
    const { data } = await listAudit(storeOf(entriesOf(1_002)), { limit });
    expect(data).toHaveLength(count);
  });

  it('goes on where the page before ended, and ends with the oldest', async () => {
    const store = storeOf(entriesOf(5));
    const seen: number[][] = [];
    let page: string | undefined;
    do {
      const found = await listAudit(store, { limit: 2, page });
      seen.push(numbersOf(found.data));
      page = found.next_page ?? undefined;
    } while (page !== undefined);
    expect(seen).toEqual([[5, 4], [3, 2], [1]]);
    const whole = await listAudit(store, { limit: 5 });
    expect(whole).toMatchObject({ next_page: null });
    expect(whole).not.toHaveProperty('removed_before');
  });

  it.each([
    'x',
    '',
    Buffer.from('aud_A').toString('base64url'),
    Buffer.from('run_1').toString('base64url'),
  ])('refuses the page %j, which no listing has given out', async (page) => {
    await expect(listAudit(storeOf([]), { page })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'page',
    });
  });

  it.each<[string, AuditFilter, Partial<AuditEntry>]>([
    ['organization', { organization: 'org_2' }, { organization: 'org_2' }],
    ['action', { action: 'delete' }, { action: 'delete' }],
    ['request', { request: 'req_x' }, { request_id: 'req_x' }],
    ['kind', { kind: 'key' }, { object: { ...NOTE.object, kind: 'key' } }],
    ['id of the object', { object: 'm_9' }, { object: { ...NOTE.object, id: 'm_9' } }],
    ['name of the object', { object: 'n_9' }, { object: { ...NOTE.object, name: 'n_9' } }],
    ['id of the actor', { actor: 'key_9' }, { actor: { ...NOTE.origin.actor, id: 'key_9' } }],
    ['name of the actor', { actor: 'cd' }, { actor: { ...NOTE.origin.actor, name: 'cd' } }],
  ])('shows those of one %s', async (_what, filter, own) => {
    const entries = entriesOf(3, (entry, n) => (n === 1 ? { ...entry, ...own } : entry));
    expect(await numbers(filter, entries)).toEqual([2]);
    expect(await numbers({ ...filter, action: 'none' }, entries)).toEqual([]);
  });

  it('shows those from an instant on and before another', async () => {
    const entries = entriesOf(5);
    const from = START + SECOND;
    expect(await numbers({ from }, entries)).toEqual([5, 4, 3, 2]);
    expect(await numbers({ from: from + 1 }, entries)).toEqual([5, 4, 3]);
    expect(await numbers({ to: START + 3 * SECOND }, entries)).toEqual([3, 2, 1]);
    expect(await numbers({ to: START + 3 * SECOND + 1 }, entries)).toEqual([4, 3, 2, 1]);
    expect(await numbers({ from, to: from + 1 }, entries)).toEqual([2]);
  });

  it('looks a minute further than its instants, for the clocks of writers', async () => {
    const late = entriesOf(200, (entry, n) => {
      if (n === 0) return { ...entry, at: new Date(START + 60 * SECOND).toISOString() };
      return n === 159 ? { ...entry, at: new Date(START + 99 * SECOND).toISOString() } : entry;
    });
    const [from, to] = [START + 60 * SECOND, START + 100 * SECOND];
    const found = await numbers({ from, to }, late);
    expect([found[0], found.at(-1), found.length]).toEqual([160, 1, 42]);
    expect(await numbers({ from: from + 1, to }, late)).not.toContain(1);
  });

  it('ends where everything behind is too old, without reading it', async () => {
    const store = storeOf(entriesOf(1_200));
    const { next_page: next } = await listAudit(store, { from: START + 1_199 * SECOND, limit: 10 });
    expect([next, store.asked.length]).toEqual([null, 1]);
  });

  it.each([
    [9_999, 1, null],
    [10_000, 0, expect.any(String)],
  ])('looks at 10,000 entries for one page: %d in vain', async (others, count, next) => {
    const entries = entriesOf(others + 1, (entry, n) =>
      n === 0 ? { ...entry, action: 'x' } : entry,
    );
    const store = storeOf(entries);
    const page = await listAudit(store, { action: 'x' });
    if (count === 0) {
      expect([page.data.length, page.next_page]).toEqual([0, next]);
      const rest = await listAudit(store, { action: 'x', page: page.next_page ?? '' });
      expect(numbersOf(rest.data)).toEqual([1]);
    } else expect(numbersOf(page.data)).toEqual([1]);
  });

  it('tells on its last page what retention has removed, where it reaches so far back', async () => {
    const removed = START - SECOND;
    const store = storeOf(entriesOf(3), removed);
    const removed_before = new Date(removed).toISOString();
    expect(await listAudit(store)).toMatchObject({ removed_before });
    expect(await listAudit(store, { from: removed - 1 })).toMatchObject({ removed_before });
    expect(await listAudit(store, { from: removed })).not.toHaveProperty('removed_before');
    expect(await listAudit(store, { limit: 2 })).not.toHaveProperty('removed_before');
  });
});

describe('one entry of the audit log', () => {
  it('is found by its id alone', async () => {
    const entries = entriesOf(2);
    const store = storeOf(entries);
    const id = entries[1]?.id ?? '';
    expect(await getAudit(store, id)).toEqual({ ...entries[1], type: 'audit_entry' });
    for (const other of ['aud_0', `${id}/`, id.toUpperCase(), 'aud_', `aud_${'0'.repeat(65)}`, ''])
      expect(await getAudit(store, other)).toBeUndefined();
  });
});
