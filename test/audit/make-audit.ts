import type { AuditEntry, AuditNote } from '../../src/audit/audit-entry.ts';
import { AuditLog } from '../../src/audit/audit-log.ts';
import { ENTRIES } from '../../src/audit/audit-rows.ts';
import { sealAudit } from '../../src/audit/seal-audit.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import type { FakeClock } from '../support/fake-clock.ts';

export const NOTE: AuditNote = {
  origin: {
    actor: { kind: 'key', id: 'key_1', name: 'ci' },
    from: { address: '127.0.0.1', client: 'test' },
    requestId: 'req_1',
  },
  action: 'update',
  object: { kind: 'model', id: 'model_1', name: 'acme/fast' },
  organization: 'org_1',
  changes: [{ path: 'enabled', old: true, new: false }],
};

export interface Audit {
  readonly store: Store;
  readonly clock: FakeClock;
  /** Two writers, as of two processes. */
  readonly logs: readonly [AuditLog, AuditLog];
  /** Appends so many entries, a second apart, by both writers in turns. */
  fill(count: number): Promise<void>;
  seal(): Promise<void>;
  entries(): Promise<AuditEntry[]>;
}

export function makeAudit(store?: Store, clock = createFakeClock()): Audit {
  const opened = store ?? openMemoryStore(clock);
  const log = () => new AuditLog({ store: opened, clock });
  const logs = [log(), log()] as const;
  return {
    store: opened,
    clock,
    logs,
    async fill(count) {
      for (let done = 0; done < count; done += 2) {
        const object = { ...NOTE.object, id: `model_${done}` };
        await Promise.all(logs.map((writer) => writer.record({ ...NOTE, object })));
        clock.advance(1_000);
      }
    },
    seal: () => sealAudit({ store: opened, clock }),
    entries: async () =>
      (await opened.list<AuditEntry>({ prefix: ENTRIES, limit: 10_000 })).map(({ value }) => value),
  };
}
