import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../src/audit/audit-entry.ts';
import { hashAfter } from '../../src/audit/audit-rows.ts';
import type { Places } from '../../src/audit/audit-rows.ts';
import { Chains } from '../../src/audit/chains.ts';
import type { AuditFault } from '../../src/audit/chains.ts';
import type { SealRead, SealReader } from '../../src/audit/seal-reader.ts';
import { NOTE } from './make-audit.ts';

/** Sound entries of one chain. */
function chainOf(chain: number, count: number): AuditEntry[] {
  const { origin, ...note } = NOTE;
  const entries: AuditEntry[] = [];
  for (let number = 1; number <= count; number++) {
    const entry = {
      ...note,
      id: `aud_${chain}_${number}`,
      at: '2026-11-21T00:00:00.000Z',
      actor: origin.actor,
      from: origin.from,
      request_id: origin.requestId,
      chain,
      number,
    };
    entries.push({ ...entry, hash: hashAfter(entries.at(-1)?.hash ?? '', entry) });
  }
  return entries;
}
const place = ({ number, hash }: AuditEntry) => ({ number, hash });
const headOf = (entries: readonly AuditEntry[]) => place(entries.at(-1)!);

interface Given {
  heads: Places;
  from?: Places;
  seals?: SealRead[];
}

function chainsOf({ heads, from = {}, seals = [] }: Given) {
  const left = [...seals];
  const reader = { next: async () => left.shift() } as Partial<SealReader> as SealReader;
  return { left, chains: new Chains({ heads, from, seals: reader }) };
}

async function verdict(
  given: Given,
  entries: readonly AuditEntry[],
): Promise<AuditFault | undefined> {
  const { chains } = chainsOf(given);
  for (const entry of entries) {
    const fault = await chains.add(entry.id, entry);
    if (fault) return fault;
  }
  return chains.end();
}

const FOUR = chainOf(1, 4);
const HEADS = { 1: headOf(FOUR) };

describe('the chains of the log', () => {
  it('are sound where every entry follows the one before it', async () => {
    const other = chainOf(2, 2);
    const { chains } = chainsOf({ heads: { 1: headOf(FOUR), 2: headOf(other) } });
    for (const entry of [FOUR[0], other[0], FOUR[1], FOUR[2], other[1], FOUR[3]])
      expect(await chains.add(entry!.id, entry!)).toBeUndefined();
    expect([await chains.end(), chains.count, chains.tooLong({})]).toEqual([
      undefined,
      6,
      undefined,
    ]);
  });

  it('begin behind what retention has removed', async () => {
    const from = { 1: place(FOUR[1]!) };
    expect(await verdict({ heads: HEADS, from }, FOUR.slice(2))).toBeUndefined();
    expect(await verdict({ heads: HEADS, from }, FOUR.slice(1))).toMatchObject({
      problem: 'inserted',
      entry: 'aud_1_2',
      message: 'entry aud_1_2 was put in: chain 1 has its entry 2 already',
    });
  });

  it('tell of an entry that is not what it was', async () => {
    const changed = FOUR.map((entry) => (entry.number === 2 ? { ...entry, action: 'x' } : entry));
    expect(await verdict({ heads: HEADS }, changed)).toEqual({
      problem: 'changed',
      entry: 'aud_1_2',
      chain: 1,
      number: 2,
      message: `entry aud_1_2 was changed: it does not have the hash ${FOUR[1]?.hash} any more`,
    });
  });

  it('tell of an entry that stands in the place of another', async () => {
    const { chains } = chainsOf({ heads: HEADS });
    expect(await chains.add('aud_1_1', FOUR[1]!)).toMatchObject({
      problem: 'reordered',
      entry: 'aud_1_1',
      number: 2,
      message: 'entry aud_1_1 was replaced by entry aud_1_2: the order was changed',
    });
  });

  it.each<[string, AuditEntry[], number, string]>([
    [
      'in the middle',
      [FOUR[0]!, FOUR[2]!, FOUR[3]!],
      2,
      'entry 2 of chain 1 is missing, after aud_1_1 and before aud_1_3',
    ],
    ['at the beginning', FOUR.slice(1), 1, 'entry 1 of chain 1 is missing, before aud_1_2'],
    ['at the end', FOUR.slice(0, 3), 4, 'entry 4 of chain 1 is missing, after aud_1_3'],
    ['as all others are', [], 1, 'entry 1 of chain 1 is missing'],
  ])('tell of an entry that is missing %s', async (...[, entries, number, message]) => {
    expect(await verdict({ heads: HEADS }, entries)).toEqual({
      problem: 'missing',
      entry: null,
      chain: 1,
      number,
      message,
    });
  });

  it('tell of a last entry that is another than its head says', async () => {
    const heads = { 1: { number: 4, hash: 'other' } };
    expect(await verdict({ heads }, FOUR)).toEqual({
      problem: 'changed',
      entry: 'aud_1_4',
      chain: 1,
      number: 4,
      message: 'entry aud_1_4 was changed: it is not the last one of chain 1 any more',
    });
    const removed = { heads, from: { 1: { number: 4, hash: 'x' } } };
    expect(await verdict(removed, [])).toMatchObject({
      entry: null,
      message: 'entry 4 was changed: it is not the last one of chain 1 any more',
    });
  });

  it('take entries behind their heads for new, unless the heads stay where they are', async () => {
    const heads = { 1: place(FOUR[2]!) };
    const { chains } = chainsOf({ heads });
    for (const entry of FOUR) expect(await chains.add(entry.id, entry)).toBeUndefined();
    expect([await chains.end(), chains.count]).toEqual([undefined, 3]);
    expect(chains.tooLong(HEADS)).toBeUndefined();
    expect(chains.tooLong(heads)).toMatchObject({
      problem: 'inserted',
      entry: 'aud_1_4',
      number: 4,
      message: 'entry aud_1_4 was put in: chain 1 ends before it',
    });
    expect(chains.tooLong({})).toMatchObject({ problem: 'inserted' });
  });
});

describe('the seals of the chains', () => {
  const sealAt = (entry: AuditEntry, hash = entry.hash): SealRead => ({
    heads: { [entry.chain]: { number: entry.number, hash } },
  });

  it('are read no further than an entry needs', async () => {
    const seals = [sealAt(FOUR[1]!), sealAt(FOUR[3]!)];
    const { chains, left } = chainsOf({ heads: HEADS, seals });
    await chains.add(FOUR[0]!.id, FOUR[0]!);
    expect(left).toHaveLength(1);
    await chains.add(FOUR[1]!.id, FOUR[1]!);
    expect(left).toHaveLength(1);
    await chains.add(FOUR[2]!.id, FOUR[2]!);
    expect(left).toHaveLength(0);
    expect(await chains.add(FOUR[3]!.id, FOUR[3]!)).toBeUndefined();
    expect(await chains.end()).toBeUndefined();
  });

  it('tell of an entry whose hash was made anew, with all behind it', async () => {
    const seals = [sealAt(FOUR[1]!, 'other'), sealAt(FOUR[3]!)];
    expect(await verdict({ heads: HEADS, seals }, FOUR)).toMatchObject({
      problem: 'changed',
      entry: 'aud_1_2',
      message: 'entry aud_1_2 was changed: its seal has another hash',
    });
  });

  it('tell of entries that are gone together with their head', async () => {
    const heads = { 1: place(FOUR[1]!) };
    const seals = [sealAt(FOUR[3]!)];
    expect(await verdict({ heads, seals }, FOUR.slice(0, 2))).toMatchObject({
      problem: 'missing',
      number: 3,
    });
  });

  it('that retention is on its way to are no fault', async () => {
    const from = { 1: place(FOUR[2]!) };
    const seals = [sealAt(FOUR[1]!), sealAt(FOUR[2]!), sealAt(FOUR[3]!)];
    expect(await verdict({ heads: HEADS, from, seals }, FOUR.slice(3))).toBeUndefined();
  });

  it('are told of where they are wrong themselves', async () => {
    const fault = { problem: 'missing' as const, message: 'seal 2 is missing' };
    const told = { ...fault, entry: null, chain: null, number: null };
    expect(await verdict({ heads: HEADS, seals: [{ fault }] }, FOUR)).toEqual(told);
    const late = { heads: HEADS, seals: [sealAt(FOUR[3]!), { fault }] };
    expect(await verdict(late, FOUR)).toEqual(told);
  });
});
