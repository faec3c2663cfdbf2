import { describe, expect, it } from 'vitest';
import { GATEWAY_ORIGIN } from '../../src/audit/audit-entry.ts';
import { hashAfter, headKey, LAST_SEAL, SEALS } from '../../src/audit/audit-rows.ts';
import type { ChainHead, Seal, Sealed } from '../../src/audit/audit-rows.ts';
import { idTime } from '../../src/core/ids.ts';
import { createSealJob } from '../../src/audit/seal-audit.ts';
import { makeAudit, NOTE } from './make-audit.ts';

describe('the audit log', () => {
  it('notes who did what, in the commit of what was done', async () => {
    const { logs, store, clock, entries } = makeAudit();
    const put = { type: 'put', key: ['model', 1], value: 'x', ifAbsent: true } as const;
    expect(await logs[0].commit([put], NOTE)).toMatchObject({ ok: true });
    const [entry] = await entries();
    const { origin, ...note } = NOTE;
    const { hash, ...rest } = entry!;
    expect(rest).toEqual({
      ...note,
      id: expect.stringMatching(/^aud_/),
      at: new Date(clock.now()).toISOString(),
      actor: origin.actor,
      from: origin.from,
      request_id: 'req_1',
      chain: 0,
      number: 1,
    });
    expect(hash).toBe(hashAfter('', rest));
    expect((await store.get(['model', 1]))?.value).toBe('x');
  });

  it('notes nothing of what was not done', async () => {
    const { logs, store, entries } = makeAudit();
    await store.commit([{ type: 'put', key: ['model', 1], value: 'x' }]);
    const put = { type: 'put', key: ['model', 1], value: 'y', ifAbsent: true } as const;
    expect(await logs[0].commit([put], NOTE)).toEqual({ ok: false, conflict: ['model', 1] });
    expect(await entries()).toEqual([]);
    await logs[0].record({ ...NOTE, origin: GATEWAY_ORIGIN });
    expect(await entries()).toMatchObject([{ number: 1, actor: { kind: 'gateway', id: null } }]);
  });

  it('has hashes that go on from entry to entry, and a head that says how far', async () => {
    const { logs, store, entries } = makeAudit();
    for (let n = 0; n < 3; n++) await logs[0].record(NOTE);
    const all = await entries();
    expect(all.map(({ chain, number }) => [chain, number])).toEqual([
      [0, 1],
      [0, 2],
      [0, 3],
    ]);
    let before = '';
    for (const { hash, ...rest } of all) {
      expect(hash).toBe(hashAfter(before, rest));
      before = hash;
    }
    const head = await store.get<ChainHead>(headKey(0));
    expect(head?.value).toMatchObject({ number: 3, hash: before });
  });

  it('has ids that ascend in a chain, whatever its clock says', async () => {
    const { logs, clock, entries } = makeAudit();
    const start = clock.now();
    await logs[0].record(NOTE);
    await logs[0].record(NOTE);
    clock.step(-60_000);
    await logs[0].record(NOTE);
    clock.step(120_000);
    await logs[0].record(NOTE);
    const all = await entries();
    expect(all.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
    expect(all.map(({ id }) => idTime(id))).toEqual([start, start + 1, start + 2, start + 60_000]);
    const instants = all.map(({ at }) => Date.parse(at) - start);
    expect(instants).toEqual([0, 0, -60_000, 60_000]);
  });
});

describe('sealing the audit log', () => {
  it('fixes how far the chains have come, and those that have grown since', async () => {
    const { logs, store, clock, seal } = makeAudit();
    await logs[0].record(NOTE);
    await seal();
    clock.advance(1_000);
    await Promise.all([logs[0].record(NOTE), logs[0].record(NOTE)]);
    await seal();
    const [first, second] = (await store.list<Seal>({ prefix: SEALS })).map(({ value }) => value);
    const heads = await Promise.all([0, 1].map((lane) => store.get<ChainHead>(headKey(lane))));
    const places = heads.map((head) => ({ number: head?.value.number, hash: head?.value.hash }));
    expect(first).toMatchObject({ number: 1, at: clock.now() - 1_000 });
    expect(Object.keys(first?.heads ?? {})).toEqual(['0']);
    const { hash, ...rest } = second!;
    expect(rest).toEqual({ number: 2, at: clock.now(), heads: { 0: places[0], 1: places[1] } });
    expect(hash).toBe(hashAfter(first?.hash ?? '', rest));
    expect((await store.get<Sealed>(LAST_SEAL))?.value).toEqual({
      number: 2,
      hash,
      heads: { 0: places[0], 1: places[1] },
    });
  });

  it('keeps the places of chains that have not grown', async () => {
    const { logs, store, seal } = makeAudit();
    await Promise.all([logs[0].record(NOTE), logs[0].record(NOTE)]);
    await seal();
    await logs[0].record(NOTE);
    await seal();
    const last = (await store.get<Sealed>(LAST_SEAL))?.value;
    expect(Object.keys(last?.heads ?? {})).toEqual(['0', '1']);
    const [, second] = (await store.list<Seal>({ prefix: SEALS })).map(({ value }) => value);
    expect(Object.keys(second?.heads ?? {})).toHaveLength(1);
  });

  it('writes no seal where nothing has grown', async () => {
    const { logs, store, seal } = makeAudit();
    await seal();
    expect(await store.list({ prefix: SEALS })).toEqual([]);
    await logs[0].record(NOTE);
    await seal();
    await seal();
    expect(await store.list({ prefix: SEALS })).toHaveLength(1);
  });

  it('is a job that comes again every minute', async () => {
    const { logs, store, clock } = makeAudit();
    await logs[0].record(NOTE);
    const job = createSealJob({ store, clock });
    expect(await job({} as never)).toEqual({ againInMs: 60_000 });
    expect(await store.list({ prefix: SEALS })).toHaveLength(1);
  });
});
