import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../src/audit/audit-entry.ts';
import { entryKey, hashAfter, headKey, SEALS } from '../../src/audit/audit-rows.ts';
import type { Seal } from '../../src/audit/audit-rows.ts';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
import type { Store } from '../../src/store/store.ts';
import { verifies } from '../requirements.ts';
import { makeAudit, NOTE } from './make-audit.ts';
import type { Audit } from './make-audit.ts';

async function filled(): Promise<Audit> {
  const audit = makeAudit();
  for (let minute = 0; minute < 3; minute++) {
    await audit.fill(8);
    await audit.seal();
  }
  await audit.fill(2);
  return audit;
}

const put = (store: Store, entry: AuditEntry, id = entry.id) =>
  store.commit([{ type: 'put', key: entryKey(id), value: entry }]);

/** Entry in the middle of the longest chain, and the one behind it. */
async function middle(audit: Audit): Promise<[AuditEntry, AuditEntry]> {
  const entries = await audit.entries();
  const lengths = new Map<number, number>();
  for (const { chain } of entries) lengths.set(chain, (lengths.get(chain) ?? 0) + 1);
  const [[longest]] = [...lengths].sort(([, a], [, b]) => b - a) as [[number, number]];
  const chain = entries.filter((entry) => entry.chain === longest);
  const at = chain.length >> 1;
  return [chain[at] as AuditEntry, chain[at + 1] as AuditEntry];
}

const TAMPERINGS: Record<
  string,
  (audit: Audit) => Promise<{ problem: string; entry?: string; number?: number }>
> = {
  'a changed entry': async (audit) => {
    const [entry] = await middle(audit);
    await put(audit.store, { ...entry, action: 'create' });
    return { problem: 'changed', entry: entry.id };
  },
  'a changed entry with its hash made anew': async (audit) => {
    const [entry, next] = await middle(audit);
    const { hash: _old, ...rest } = { ...entry, action: 'create' };
    await put(audit.store, { ...rest, hash: hashAfter('', rest) });
    const found = (await verifyAudit(audit.store)).fault?.entry;
    expect([entry.id, next.id]).toContain(found);
    return { problem: 'changed', entry: entry.id };
  },
  'a removed entry': async (audit) => {
    const [entry] = await middle(audit);
    await audit.store.commit([{ type: 'delete', key: entryKey(entry.id) }]);
    return { problem: 'missing', number: entry.number };
  },
  'two entries in each other’s place': async (audit) => {
    const [entry, next] = await middle(audit);
    await put(audit.store, entry, next.id);
    await put(audit.store, next, entry.id);
    return { problem: 'reordered', entry: entry.id };
  },
  'an entry that was put in': async (audit) => {
    const [entry] = await middle(audit);
    const id = `${entry.id.slice(0, -1)}${entry.id.endsWith('z') ? 'y' : 'z'}`;
    await put(audit.store, { ...entry, id });
    return { problem: id < entry.id ? 'changed' : 'inserted', entry: id };
  },
  'an entry behind the last one': async (audit) => {
    const last = (await audit.entries()).at(-1) as AuditEntry;
    const { hash: previous, ...rest } = last;
    const forged = { ...rest, id: `aud_z${last.id.slice(5)}`, number: last.number + 1 };
    await put(audit.store, { ...forged, hash: hashAfter(previous, forged) });
    return { problem: 'inserted', entry: forged.id };
  },
  'the last entry of a chain removed together with its head': async (audit) => {
    await audit.seal();
    const last = (await audit.entries()).at(-1) as AuditEntry;
    await audit.store.commit([
      { type: 'delete', key: entryKey(last.id) },
      { type: 'delete', key: headKey(last.chain) },
    ]);
    return { problem: 'missing', number: last.number };
  },
  'a changed seal': async (audit) => {
    const [, seal] = await audit.store.list<Seal>({ prefix: SEALS });
    if (!seal) throw new Error('no seal');
    await audit.store.commit([
      { type: 'put', key: seal.key, value: { ...seal.value, at: seal.value.at + 1 } },
    ]);
    return { problem: 'changed' };
  },
  'a removed seal': async (audit) => {
    const [, seal] = await audit.store.list<Seal>({ prefix: SEALS });
    if (!seal) throw new Error('no seal');
    await audit.store.commit([{ type: 'delete', key: seal.key }]);
    return { problem: 'missing' };
  },
};

describe('gateway audit verify', () => {
  it('passes on what several writers wrote at once, sealed or not', async () => {
    const audit = await filled();
    const verdict = await verifyAudit(audit.store);
    expect(verdict).toMatchObject({ valid: true, entries: 26, seals: 3, fault: null });
    expect(verdict.sealed_until).not.toBeNull();
    expect(verdict.removed_before).toBeNull();
  });

  it('passes on an empty log', async () => {
    expect(await verifyAudit(makeAudit().store)).toMatchObject({ valid: true, entries: 0 });
  });

  it('passes while others write', async () => {
    const audit = await filled();
    const writing = Array.from({ length: 20 }, () => audit.logs[0].record(NOTE));
    expect((await verifyAudit(audit.store)).fault).toBeNull();
    await Promise.all(writing);
    expect((await verifyAudit(audit.store)).entries).toBe(46);
  });

  it(
    verifies(
      'audit.chain',
      'passes on an untouched log, and names what was changed, removed, reordered or put in',
    ),
    async () => {
      for (const [what, tamper] of Object.entries(TAMPERINGS)) {
        const audit = await filled();
        expect((await verifyAudit(audit.store)).valid).toBe(true);
        const expected = await tamper(audit);
        const { valid, fault } = await verifyAudit(audit.store);
        expect({ valid, ...fault }, what).toMatchObject({ valid: false, ...expected });
        expect(fault?.message).toMatch(/^(entry|seal) /);
      }
    },
  );

  it('finds a chain that was written anew from its first entry by its seals', async () => {
    const audit = await filled();
    const entries = await audit.entries();
    const chain = entries[0]?.chain ?? 0;
    let previous = '';
    for (const { hash: _old, ...rest } of entries.filter((entry) => entry.chain === chain)) {
      const forged = { ...rest, action: 'read' };
      previous = hashAfter(previous, forged);
      await put(audit.store, { ...forged, hash: previous });
      const head = { number: rest.number, hash: previous, at: 0 };
      await audit.store.commit([{ type: 'put', key: headKey(chain), value: head }]);
    }
    expect((await verifyAudit(audit.store)).fault?.message).toMatch(/its seal has another hash/);
  });
});
