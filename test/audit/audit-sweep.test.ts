import { describe, expect, it } from 'vitest';
import { createAuditSweep } from '../../src/audit/audit-sweep.ts';
import { listAudit } from '../../src/audit/read-audit.ts';
import { SEALS } from '../../src/audit/audit-rows.ts';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
import { verifies } from '../requirements.ts';
import { sweepRound } from '../support/sweep-round.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { AuditLog } from '../../src/audit/audit-log.ts';
import { makeAudit, NOTE } from './make-audit.ts';

describe('retention of the audit log', () => {
  it(
    verifies(
      'audit.retention',
      'cuts at seals, keeps the last hashes, and the rest still verifies',
    ),
    async () => {
      const audit = makeAudit();
      const ends: number[] = [];
      for (let minute = 0; minute < 5; minute++) {
        await audit.fill(10);
        await audit.seal();
        ends.push(audit.clock.now());
        audit.clock.advance(50_000);
      }
      await audit.fill(4);
      // In the middle between two seals: what is behind the earlier one stays.
      const before = (ends[2] as number) + 20_000;
      const round = await sweepRound(createAuditSweep(audit.store), before, 7);
      expect(round.removed).toBe(30);
      expect(await audit.entries()).toHaveLength(24);
      expect(await audit.store.list({ prefix: SEALS })).toHaveLength(2);
      expect(await verifyAudit(audit.store)).toMatchObject({
        valid: true,
        entries: 24,
        seals: 2,
        removed_before: new Date(ends[2] as number).toISOString(),
      });
      const { removed_before: told } = await listAudit(audit.store, { limit: 100 });
      expect(told).toBe(new Date(ends[2] as number).toISOString());
      await audit.fill(4);
      await audit.seal();
      expect((await verifyAudit(audit.store)).fault).toBeNull();
    },
  );

  it('verifies after every step, and stops at nothing half removed', async () => {
    const audit = makeAudit();
    for (let minute = 0; minute < 3; minute++) {
      await audit.fill(10);
      await audit.seal();
      audit.clock.advance(60_000);
    }
    const sweep = createAuditSweep(audit.store);
    let cursor: unknown;
    do {
      ({ cursor } = await sweep({ before: audit.clock.now(), cursor, limit: 4 }));
      expect((await verifyAudit(audit.store)).fault).toBeNull();
    } while (cursor !== undefined);
    expect(await audit.entries()).toEqual([]);
  });

  it('removes nothing that is not sealed, however old it is', async () => {
    const audit = makeAudit();
    await audit.fill(6);
    audit.clock.advance(3_600_000);
    await sweepRound(createAuditSweep(audit.store), audit.clock.now());
    expect(await audit.entries()).toHaveLength(6);
  });

  it('removes the entries of writers whose clocks differ by a day', async () => {
    const audit = makeAudit();
    const behind = createFakeClock(audit.clock.now() - 86_400_000);
    const late = new AuditLog({ store: audit.store, clock: behind });
    for (let round = 0; round < 3; round++) {
      for (let entry = 0; entry < 5; entry++) await late.record(NOTE);
      await audit.fill(6);
      await audit.seal();
      audit.clock.advance(60_000);
    }
    for (let entry = 0; entry < 5; entry++) await late.record(NOTE);
    await sweepRound(createAuditSweep(audit.store), audit.clock.now(), 3);
    expect(await audit.entries()).toHaveLength(5);
    expect((await verifyAudit(audit.store)).fault).toBeNull();
  });
});
