import type { Clock } from '../core/clock.ts';
import { toNanos } from '../core/money.ts';
import type { KeyHasher } from '../core/seal.ts';
import type { Principal, SpendLimits } from '../usage/principal.ts';
import type { Spec, Stored } from './define-resource.ts';
import { key as keyDefinition } from './key.ts';
import { organization as organizationDefinition } from './organization.ts';
import type { Repository } from './repository.ts';

/** Finds the principal of a presented key in memory; the data plane never waits for the store. */
export interface KeyDirectory {
  lookup(presented: string): KeyState;
  /** The same for the id of a key: who pays for what goes on without its holder. */
  find(id: string): KeyState;
  /** Reads all keys anew; what is served meanwhile is the former state. */
  reload(): Promise<void>;
}

export type KeyState = Principal | 'unknown' | 'revoked' | 'expired';

interface Listed {
  principal: Principal;
  revoked: boolean;
  expiresAt: number;
}

export interface KeyDirectoryDeps {
  repository: Repository;
  hasher: KeyHasher;
  clock: Clock;
}

/** Presented keys whose listing is remembered, so that most requests cost no HMAC. */
const MAX_REMEMBERED = 10_000;

const ALL = { organization: null, limit: Infinity, matches: () => true };

export function createKeyDirectory({ repository, hasher, clock }: KeyDirectoryDeps): KeyDirectory {
  let byHash: ReadonlyMap<string, Listed> = new Map();
  let byId: ReadonlyMap<string, Listed> = new Map();
  let remembered = new Map<string, Listed>();
  let begun = 0;
  let shown = 0;

  const find = (presented: string): Listed | undefined => {
    for (const hash of hasher.hashes(presented)) {
      const found = byHash.get(hash);
      if (!found) continue;
      // Only keys that exist: nobody can fill this with guesses.
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(presented, found);
      return found;
    }
    return undefined;
  };

  const stateOf = (found: Listed | undefined): KeyState => {
    if (!found) return 'unknown';
    if (found.revoked) return 'revoked';
    return found.expiresAt <= clock.now() ? 'expired' : found.principal;
  };

  return {
    lookup: (presented) => stateOf(remembered.get(presented) ?? find(presented)),
    find: (id) => stateOf(byId.get(id)),
    async reload() {
      const turn = ++begun;
      const organizations = await repository.list(organizationDefinition, ALL);
      const keys = await repository.list(keyDefinition, ALL);
      // One that began later has read later, and may have been done first.
      if (turn < shown) return;
      shown = turn;
      const owners = new Map(organizations.map((stored) => [stored.id, stored]));
      const listed = keys.map((stored) => ({
        hash: String(stored.state['hash']),
        key: toListed(stored, owners.get(stored.organization ?? '')),
      }));
      remembered = new Map();
      byHash = new Map(listed.map(({ hash, key }) => [hash, key]));
      byId = new Map(listed.map(({ key }) => [key.principal.keyId, key]));
    },
  };
}

function toListed(stored: Stored, owner: Stored | undefined): Listed {
  const { spec, state } = stored;
  const expires = spec['expires_at'] as string | null;
  const scopes = spec['scopes'] as string[] | null;
  return {
    revoked: state['revoked_at'] !== null,
    expiresAt: expires === null ? Infinity : Date.parse(expires),
    principal: {
      keyId: stored.id,
      keyName: spec.name,
      organizationId: stored.organization ?? '',
      organizationEnabled: owner?.spec['enabled'] === true,
      scopes: scopes && new Set(scopes),
      keySpend: toSpendLimits(spec['spending_limit']),
      organizationSpend: toOrganizationLimits(owner?.spec),
      rpmCap: spec['rpm_cap'] as number | null,
      concurrencyCap: spec['concurrency_cap'] as number | null,
      allowedModels: spec['allowed_models'] as string[] | null,
    },
  };
}

/** As a key or an organization declares them. */
export function toSpendLimits(declared: unknown): SpendLimits | null {
  const windows = Object.entries((declared ?? {}) as Record<string, string>);
  if (windows.length === 0) return null;
  return Object.fromEntries(windows.map(([window, amount]) => [window, toNanos(amount)]));
}

/** An organization's limits; what it paid in advance bounds its lifetime as well. */
export function toOrganizationLimits(spec: Spec | undefined): SpendLimits | null {
  const declared = (spec?.['spending_limit'] ?? {}) as Record<string, string>;
  const credit = spec?.['credit'];
  if (typeof credit !== 'string') return toSpendLimits(declared);
  const { lifetime = credit } = declared;
  const least = toNanos(lifetime) < toNanos(credit) ? lifetime : credit;
  return toSpendLimits({ ...declared, lifetime: least });
}
