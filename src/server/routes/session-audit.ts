import type { AuditLog } from '../../audit/audit-log.ts';
import { changedFields } from '../../audit/changed-fields.ts';
import type { SessionRow } from '../../sessions/session-row.ts';
import type { SessionCommit } from '../../sessions/session-row.ts';
import type { HttpExchange } from '../../surfaces/http-exchange.ts';
import type { Principal } from '../../usage/principal.ts';
import { originOf } from '../../audit/origin-of.ts';

export interface SessionAuditDeps {
  readonly repository: { readonly audit: Pick<AuditLog, 'commit'> };
}

interface SessionAction {
  readonly exchange: HttpExchange;
  readonly principal: Principal;
  readonly action: string;
}

/** Commits a change of a Session together with its audit entry. */
export function auditedCommit(
  { exchange, principal, action }: SessionAction,
  { repository }: SessionAuditDeps,
): SessionCommit {
  const origin = originOf(exchange, principal);
  return (ops, { before, next }) => {
    const row = next ?? before;
    if (!row) throw new Error('an action without a Session');
    return repository.audit.commit(ops, {
      origin,
      action,
      object: { kind: 'session', id: row.id, name: row.title },
      organization: row.organization,
      changes: changedFields(membersOf(before), membersOf(next)),
    });
  };
}

/** Members that callers set; what turns do is in the events of the Session. */
function membersOf(row: SessionRow | undefined): Record<string, unknown> | undefined {
  return (
    row && {
      agent_id: row.agentId,
      agent_version: row.agentVersion,
      title: row.title,
      metadata: row.metadata,
      vault_ids: row.vaultIds,
      resources: row.resources,
      budget: row.budget,
      archived_at: row.archivedAt,
    }
  );
}
