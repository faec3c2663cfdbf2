import type { Role } from '../../core/access.ts';
import type { Clock } from '../../core/time/clock.ts';
import { toNanos } from '../../core/money.ts';
import type { KeyHasher } from '../../core/seal.ts';
import type { Principal, SpendLimits, TokenCaps } from '../../usage/principal.ts';
import { readChanged } from '../changes/changed-resources.ts';
import type { Changes } from '../changes/change-log.ts';
import type { Spec, Stored } from '../store/stored.ts';
import type { Budget } from '../../usage/budgets/budget.ts';
import { BudgetList, budgetsOf } from '../keys/budget-list.ts';
import { budget as budgetDefinition } from './budget.ts';
import { key as keyDefinition } from './key.ts';
import { organization as organizationDefinition } from './organization.ts';
import { createFormerDeadline } from '../keys/former-deadline.ts';
import { hashesOf, readValues } from '../keys/key-values.ts';
import type { KeyValues } from '../keys/key-values.ts';
import type { Repository } from '../store/repository.ts';

/** Finds the principal of a presented key in memory; the data plane never waits for the store. */
export interface KeyDirectory {
  lookup(presented: string): KeyState;
  /**
   * The same for the id of a key: the payer of work that continues without its holder. With the mark of one of
   * its values it is over when that value is.
   */
  find(id: string, value?: string): KeyState;
  /** Mark of a presented value, by which it can be found again; undefined for that of no key. */
  valueOf(presented: string): string | undefined;
  /** Budgets of an organization that count calls which no key asked for. */
  keylessBudgets(organization: string): readonly Budget[] | undefined;
  /** Reads the changes; meanwhile the former state is served. To be called again only when it is done. */
  update(changes: Changes): Promise<void>;
}

export type KeyState = Principal | 'unknown' | 'revoked' | 'expired';

/** An organization as all of its keys see it; undefined while there is none. */
interface Owner {
  stored: Stored | undefined;
  budgets: ReturnType<BudgetList['of']>;
}

interface Listed {
  /** Undefined for a key that is gone. */
  stored: Stored | undefined;
  readonly owner: Owner;
  /** Computed when it is asked for, and again when the key or its organization has changed. */
  known: Known | undefined;
}

interface Known {
  readonly key: Stored;
  readonly organization: Stored | undefined;
  readonly budgets: Owner['budgets'];
  readonly revoked: boolean;
  readonly values: KeyValues;
  /** Milliseconds since epoch. */
  readonly expiresAt: number;
  readonly principal: Principal;
}

export interface KeyDirectoryDeps {
  repository: Repository;
  hasher: KeyHasher;
  clock: Clock;
}

/** A presented value, found. */
interface Presented {
  readonly listed: Listed;
  readonly hash: string;
}

/** Presented values whose listing is remembered, so that most requests cost no HMAC. */
const MAX_REMEMBERED = 10_000;

export function createKeyDirectory({ repository, hasher, clock }: KeyDirectoryDeps): KeyDirectory {
  const list = new KeyList();
  const budgets = new BudgetList();
  const remembered = new Map<string, Presented>();
  const deadline = createFormerDeadline({
    repository,
    clock,
    onCorrected(kept) {
      // A newer state that was read meanwhile stays.
      if (list.byId(kept.id)?.stored?.version === kept.version) list.put(kept.id, kept);
    },
  });

  const find = (presented: string): Presented | undefined => {
    for (const hash of hasher.hashes(presented)) {
      const listed = list.byHash(hash);
      if (!listed) continue;
      // Keeps only keys that exist: guesses cannot fill it.
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      const found = { listed, hash };
      remembered.set(presented, found);
      return found;
    }
    return undefined;
  };

  /** Finds the state of a key by the hash it was met with; without a hash, of the key itself. */
  const stateBy = (known: Known | undefined, hash: string | undefined): KeyState => {
    if (!known || hash === undefined || hash === known.values.hash) return stateOf(known, clock);
    const { former } = known.values;
    const isFormer = former?.hash === hash && !deadline.hasPassed(known.key, former);
    return isFormer ? stateOf(known, clock) : 'revoked';
  };

  return {
    lookup(presented) {
      const found = remembered.get(presented) ?? find(presented);
      return stateBy(found && know(found.listed), found?.hash);
    },
    find(id, value) {
      const listed = list.byId(id);
      return stateBy(listed && know(listed), value);
    },
    valueOf: (presented) => (remembered.get(presented) ?? find(presented))?.hash,
    keylessBudgets: (organization) => budgetsOf(budgets.of(organization), undefined),
    async update(changes) {
      const organizations = await readChanged(repository, organizationDefinition.kind, changes);
      const keys = await readChanged(repository, keyDefinition.kind, changes);
      const changed = await readChanged(repository, budgetDefinition.kind, changes);
      if (changes === 'everything') {
        remembered.clear();
        list.clear();
        budgets.clear();
      }
      const owners = new Set<string>();
      for (const [id, stored] of changed)
        for (const owner of budgets.put(id, stored)) owners.add(owner);
      for (const [id, stored] of organizations) list.ownerOf(id).stored = stored;
      for (const [id, stored] of keys) list.put(id, stored);
      for (const owner of owners) list.ownerOf(owner).budgets = budgets.of(owner);
    },
  };
}

function stateOf(known: Known | undefined, clock: Clock): KeyState {
  if (!known) return 'unknown';
  if (known.revoked) return 'revoked';
  return known.expiresAt <= clock.now() ? 'expired' : known.principal;
}

/** Keys by id and by hash, with their organizations. */
class KeyList {
  readonly #owners = new Map<string, Owner>();
  readonly #byId = new Map<string, Listed>();
  readonly #byHash = new Map<string, Listed>();

  byId(id: string): Listed | undefined {
    return this.#byId.get(id);
  }

  byHash(hash: string): Listed | undefined {
    return this.#byHash.get(hash);
  }

  ownerOf(organization: string): Owner {
    const known = this.#owners.get(organization);
    if (known) return known;
    const owner: Owner = { stored: undefined, budgets: undefined };
    this.#owners.set(organization, owner);
    return owner;
  }

  /** Undefined for a key that is gone. */
  put(id: string, stored: Stored | undefined): void {
    const listed = this.#byId.get(id);
    if (!listed) {
      if (stored) this.#add(stored);
      return;
    }
    if (!stored) {
      this.#byId.delete(id);
      for (const hash of hashes(listed.stored)) this.#byHash.delete(hash);
    }
    // Changed in place, so that callers which remember it see the change.
    listed.stored = stored;
    for (const hash of hashes(stored)) this.#byHash.set(hash, listed);
  }

  clear(): void {
    for (const index of [this.#owners, this.#byId, this.#byHash]) index.clear();
  }

  #add(stored: Stored): void {
    const owner = this.ownerOf(stored.organization ?? '');
    const listed: Listed = { stored, owner, known: undefined };
    this.#byId.set(stored.id, listed);
    for (const hash of hashes(stored)) this.#byHash.set(hash, listed);
  }
}

function hashes(stored: Stored | undefined): string[] {
  return stored ? hashesOf(readValues(stored.state)) : [];
}

function know(listed: Listed): Known | undefined {
  const { stored, owner, known } = listed;
  if (!stored) return undefined;
  const isKnown = known?.key === stored && known.organization === owner.stored;
  if (isKnown && known.budgets === owner.budgets) return known;
  return (listed.known = toKnown(stored, owner));
}

function toKnown(key: Stored, { stored: organization, budgets }: Owner): Known {
  const { spec, state } = key;
  const expires = spec['expires_at'] as string | null;
  const scopes = spec['scopes'] as string[] | null;
  return {
    key,
    organization,
    budgets,
    revoked: state['revoked_at'] !== null,
    values: readValues(state),
    expiresAt: expires === null ? Infinity : Date.parse(expires),
    principal: {
      keyId: key.id,
      keyName: spec.name,
      organizationId: key.organization ?? '',
      organizationEnabled: organization?.spec['enabled'] === true,
      scopes: scopes && new Set(scopes),
      role: spec['role'] as Role | null | undefined,
      keySpend: toSpendLimits(spec['spending_limit']),
      conversationSpend: conversationSpendOf(spec),
      organizationSpend: toOrganizationLimits(organization?.spec),
      labels: spec['labels'],
      rpmCap: spec['rpm_cap'] as number | null,
      tokenCaps: toTokenCaps(spec),
      budgets: budgetsOf(budgets, key),
      concurrencyCap: spec['concurrency_cap'] as number | null,
      allowedModels: spec['allowed_models'] as string[] | null,
    },
  };
}

function toTokenCaps({ tpm_cap: minute, tpd_cap: day }: Spec): TokenCaps | undefined {
  if (typeof minute !== 'number' && typeof day !== 'number') return undefined;
  return {
    ...(typeof minute === 'number' && { minute }),
    ...(typeof day === 'number' && { day }),
  };
}

/** Absent in keys of older versions. */
function conversationSpendOf({ limits }: Spec): number | null {
  const { conversation_spending: amount = null } = (limits ?? {}) as Record<string, string | null>;
  return amount === null ? null : toNanos(amount);
}

/** Spending limits as a key or an organization declares them. */
export function toSpendLimits(declared: unknown): SpendLimits | null {
  const windows = Object.entries((declared ?? {}) as Record<string, string>);
  if (windows.length === 0) return null;
  return Object.fromEntries(windows.map(([window, amount]) => [window, toNanos(amount)]));
}

/** An organization's limits; its prepaid amount bounds its lifetime as well. */
export function toOrganizationLimits(spec: Spec | undefined): SpendLimits | null {
  const declared = (spec?.['spending_limit'] ?? {}) as Record<string, string>;
  const credit = spec?.['credit'];
  if (typeof credit !== 'string') return toSpendLimits(declared);
  const { lifetime = credit } = declared;
  const least = toNanos(lifetime) < toNanos(credit) ? lifetime : credit;
  return toSpendLimits({ ...declared, lifetime: least });
}
