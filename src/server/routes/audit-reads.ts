import type { AuditLog } from '../../audit/audit-log.ts';
import type { Origin } from '../../audit/audit-entry.ts';
import type { RequestRecord } from '../../usage/requests/request-record.ts';

/**
 * Notes before they are shown which records with kept content are read. Those of one organization share
 * an entry. Rejects with `StoreError`.
 */
export async function auditReads(
  records: readonly RequestRecord[],
  { audit, origin }: { audit: Pick<AuditLog, 'record'>; origin: Origin },
): Promise<void> {
  const read = new Map<string, RequestRecord[]>();
  for (const record of records) {
    if (!record.content) continue;
    read.set(record.organization, [...(read.get(record.organization) ?? []), record]);
  }
  for (const [organization, found] of read) {
    const [first, ...others] = found;
    if (!first) continue;
    const ids = others.map(({ id }) => id);
    await audit.record({
      origin,
      action: 'read',
      object: { kind: 'request', id: first.id, name: null },
      organization,
      changes: ids.length === 0 ? [] : [{ path: 'also_read', old: null, new: ids }],
    });
  }
}
