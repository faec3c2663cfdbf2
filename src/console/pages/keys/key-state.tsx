import type { ResourceView } from '../../../client/admin.ts';
import { keyState } from '../../../core/access.ts';
import { State } from '../../parts/parts.tsx';

/** A key as the admin API shows it. */
export interface KeyRow extends ResourceView {
  organization: string;
  hint: string;
  scopes: string[] | null;
  /** Absent from older gateways. */
  role?: string | null;
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

const TONES = { active: 'good', expired: 'warn', revoked: 'bad', disabled: 'dim' } as const;

export function KeyState({ row }: { row: KeyRow }) {
  const state = keyState({ ...row }, Date.now());
  return <State tone={TONES[state]}>{state}</State>;
}
