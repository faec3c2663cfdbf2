import type { Role } from '../core/access.ts';
import type { Budget } from './budgets/budget.ts';

/** Upper bounds of spending in nano-dollars (1e-9 USD); an absent window has no bound. Windows are UTC. */
export interface SpendLimits {
  readonly lifetime?: number;
  readonly day?: number;
  readonly month?: number;
}

/** Most tokens of a key; an absent one has no bound. */
export interface TokenCaps {
  /** Per minute of the clock. */
  readonly minute?: number | undefined;
  /** Per calendar day (UTC). */
  readonly day?: number | undefined;
}

/** Key and organization that a request acts for, as authentication knows them. */
export interface Principal {
  readonly keyId: string;
  readonly keyName: string;
  readonly organizationId: string;
  readonly organizationEnabled: boolean;
  /** Null: every scope but `admin` (contract: Authentication 7). */
  readonly scopes: ReadonlySet<string> | null;
  /** Bounds what its scopes allow; absent or null: only they decide. */
  readonly role?: Role | null | undefined;
  readonly keySpend: SpendLimits | null;
  readonly organizationSpend: SpendLimits | null;
  /** Most that the calls of one conversation may cost, in nano-dollars. Default: no bound. */
  readonly conversationSpend?: number | null;
  /** Labels of the key. Default: none. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Accepted requests in any 60 seconds. */
  readonly rpmCap: number | null;
  /** Absent: its tokens are not counted. */
  readonly tokenCaps?: TokenCaps | undefined;
  /** Budgets that calls of the key can count in; absent: none. */
  readonly budgets?: readonly Budget[] | undefined;
  /** Requests in flight at once. */
  readonly concurrencyCap: number | null;
  /** Logical model names, `*` matches any run of characters; null allows all. */
  readonly allowedModels: readonly string[] | null;
}

/** Facts that a record and a charge need of their payer; plain JSON. */
export type PayingKey = Pick<Principal, 'keyId' | 'keyName' | 'organizationId'>;

/** True for what no key asked for: a Schedule that was due made the request. */
export function paysAsOrganization({ keyId }: Pick<PayingKey, 'keyId'>): boolean {
  return keyId.startsWith('depl_');
}

/**
 * Returns the holder that shared slots are counted for: a key, or the organization whose Schedules ask without
 * one.
 */
export function holderOf(payer: Pick<PayingKey, 'keyId' | 'organizationId'>): string {
  return paysAsOrganization(payer) ? payer.organizationId : payer.keyId;
}
