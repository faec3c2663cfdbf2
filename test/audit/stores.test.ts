import { describe, expect, it, onTestFinished } from 'vitest';
import { AuditLog } from '../../src/audit/audit-log.ts';
import { createAuditSweep } from '../../src/audit/audit-sweep.ts';
import { sealAudit } from '../../src/audit/seal-audit.ts';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
import { systemClock as clock } from '../../src/core/time/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { storePlaces } from '../store/support/store-places.ts';
import { sweepRound } from '../support/sweep-round.ts';
import { NOTE } from './make-audit.ts';

const WRITES = 40;

describe('the audit log on every store', () => {
  const places = storePlaces();

  for (const driver of places.drivers) {
    it(`has one entry for each change of several writers on ${driver}, and is cut at seals`, async () => {
      const config = await places.fresh(driver);
      // One process alone holds a journal.
      const count = driver === 'fs' ? 1 : 2;
      const stores = await Promise.all(
        Array.from({ length: count }, () => openStore(config, { clock })),
      );
      onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
      const logs = stores.map((store) => new AuditLog({ store, clock }));
      const write = async (n: number) => {
        const log = logs[n % count] as AuditLog;
        const row = { type: 'put' as const, key: ['row', n], value: n };
        expect(await log.commit([row], NOTE)).toMatchObject({ ok: true });
      };
      const [store] = stores as [(typeof stores)[number]];
      await Promise.all(Array.from({ length: WRITES }, (_, n) => write(n)));
      await sealAudit({ store, clock });
      expect(await verifyAudit(store)).toMatchObject({ valid: true, entries: WRITES, seals: 1 });
      expect(await store.list({ prefix: ['row'] })).toHaveLength(WRITES);
      const held = { type: 'check' as const, key: ['row', 0], ifAbsent: true as const };
      const refused = await logs[0]?.commit([held], NOTE);
      expect(refused).toEqual({ ok: false, conflict: ['row', 0] });
      await write(WRITES);
      await sweepRound(createAuditSweep(store), clock.now() + 1_000, 16);
      expect(await verifyAudit(store)).toMatchObject({ valid: true, entries: 1, fault: null });
    });
  }
});
