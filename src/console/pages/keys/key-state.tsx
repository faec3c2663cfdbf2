import type { ResourceView } from '../../../client/admin.ts';
import { State } from '../../parts/parts.tsx';

/** A key as the admin API shows it. */
export interface KeyRow extends ResourceView {
  organization: string;
  hint: string;
  scopes: string[] | null;
  spending_limit: { lifetime?: string | null; month?: string | null; day?: string | null } | null;
  expires_at: string | null;
  rpm_cap: number | null;
  concurrency_cap: number | null;
  allowed_models: string[] | null;
  enabled: boolean;
  revoked_at: string | null;
  former_hint: string | null;
  former_until: string | null;
}

/** A key with its value, which is shown once. */
export interface CreatedKey extends KeyRow {
  value: string;
}

export function KeyState({ row }: { row: KeyRow }) {
  if (row.revoked_at) return <State tone="bad">revoked</State>;
  if (row.expires_at && Date.parse(row.expires_at) < Date.now())
    return <State tone="warn">expired</State>;
  return row.enabled ? <State tone="good">valid</State> : <State tone="dim">disabled</State>;
}
