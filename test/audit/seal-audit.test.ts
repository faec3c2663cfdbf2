import { describe, expect, it } from 'vitest';
import { LAST_SEAL, SEALS } from '../../src/audit/audit-rows.ts';
import type { Seal, Sealed } from '../../src/audit/audit-rows.ts';
import { makeAudit } from './make-audit.ts';
import type { Audit } from './make-audit.ts';

const sealsOf = async ({ store }: Audit): Promise<Seal[]> =>
  (await store.list<Seal>({ prefix: SEALS, limit: 100 })).map(({ value }) => value);

describe('seals of the audit log', () => {
  it('are numbered from 1 without a gap, each at its instant', async () => {
    const audit = makeAudit();
    const times: number[] = [];
    for (let minute = 0; minute < 3; minute++) {
      await audit.fill(2);
      times.push(audit.clock.now());
      await audit.seal();
    }
    const seals = await sealsOf(audit);
    expect(seals.map(({ number, at }) => [number, at])).toEqual(times.map((at, i) => [i + 1, at]));
    const last = await audit.store.get<Sealed>(LAST_SEAL);
    expect(last?.value).toMatchObject({ number: 3, hash: seals[2]?.hash });
  });

  it('tell of the chains that have grown, and the last one of all', async () => {
    const audit = makeAudit();
    await audit.fill(64);
    await audit.seal();
    await audit.fill(2);
    await audit.seal();
    const [first, second] = await sealsOf(audit);
    const last = await audit.store.get<Sealed>(LAST_SEAL);
    expect(Object.keys(second?.heads ?? {}).length).toBeLessThanOrEqual(2);
    expect(last?.value.heads).toEqual({ ...first?.heads, ...second?.heads });
    const entries = await audit.entries();
    for (const [chain, { number, hash }] of Object.entries(last?.value.heads ?? {})) {
      const newest = entries.filter((entry) => entry.chain === Number(chain)).at(-1);
      expect(newest).toMatchObject({ number, hash });
    }
  });

  it('are not made where no entry has come, nor twice by two at once', async () => {
    const audit = makeAudit();
    await audit.seal();
    expect(await sealsOf(audit)).toEqual([]);
    await audit.fill(2);
    await Promise.all([audit.seal(), audit.seal()]);
    await audit.seal();
    expect(await sealsOf(audit)).toHaveLength(1);
  });
});
