import type { Key } from '../../store/store.ts';
import type { PayingKey } from '../principal.ts';

/** Owner of money that has a counter of its own. */
export type ScopeKind = 'key' | 'organization' | 'conversation' | 'budget' | 'tokens' | 'rate';

export interface Scope {
  readonly kind: ScopeKind;
  readonly id: string;
}

/** Reads the segments of a stored key that name a scope. */
export const toScope = (kind: unknown, id: unknown): Scope => ({
  kind: kind as ScopeKind,
  id: String(id),
});

/** Scope of the slices of a rate: `rpm, platform` or `rpm, key, id`. */
export const rateScope = ([, ...name]: Key): Scope => ({ kind: 'rate', id: name.join('/') });

/** Reads the name of a rate from its scope. */
export function rateName({ id }: Scope): Key {
  const at = id.indexOf('/');
  return at < 0 ? ['rpm', id] : ['rpm', id.slice(0, at), id.slice(at + 1)];
}

/** Final request records; ids sort by time, so the listing is in order of arrival. */
export const REQUESTS: Key = ['req'];
/** The instant before which records may have been removed, in ms since epoch. */
export const REMOVED_UNTIL: Key = ['req-removed-until'];
/** Starts of calls that have not ended, together with those of their commit: `flight, worker, number`. */
export const FLIGHT: Key = ['flight'];
/** Costs so far of calls that run for seconds: `sent, worker, number`. */
export const SENT: Key = ['sent'];
/** Settled money that its worker has not yet added to the scope's counter. */
export const UNFOLDED: Key = ['unfolded'];
/** Money of a scope that is set aside for a worker: `slice, kind, id, worker`. */
export const SLICE: Key = ['slice'];
/** Scopes whose slices are needed elsewhere: `recall, kind, id`; the entries expire. */
export const RECALL: Key = ['recall'];
/** Sums per day: `usage, organization, day, key, model, writer`. */
export const USAGE: Key = ['usage'];
/** Workers that live; the entries expire. */
export const LEASES: Key = ['worker'];
/** Workers that started and were not yet cleaned up after. */
export const ROSTER: Key = ['roster'];

/** The worker with exclusive mode, if there is one. */
export const SOLE: Key = ['sole'];

/** The record of a late charge by its subject; null for a subject that ended without cost. */
export const chargeKey = (id: string): Key => ['charge', id];
/** Money kept back for work that outlives its call; unlike {@link openKey} it outlives the worker, too. */
export const holdKey = (id: string): Key => ['hold', id];
/** The task that a call started, which is charged instead. */
export const handedKey = (call: string): Key => ['handed', call];
export const requestKey = (id: string): Key => ['req', id];
/** Reservation of a call that has not ended. */
export const openKey = (worker: string, id: string): Key => ['open', worker, id];
export const flightKey = (worker: string, number: number): Key => ['flight', worker, number];
export const sentKey = (worker: string, number: number): Key => ['sent', worker, number];
export const spendKey = (scope: Scope): Key => ['spend', scope.kind, scope.id];
export const slicePrefix = (scope: Scope): Key => ['slice', scope.kind, scope.id];
export const sliceKey = (scope: Scope, worker: string): Key => [...slicePrefix(scope), worker];
export const recallKey = (scope: Scope): Key => ['recall', scope.kind, scope.id];
export const unfoldedPrefix = (scope: Scope): Key => ['unfolded', scope.kind, scope.id];
export const leaseKey = (worker: string): Key => ['worker', worker];
export const rosterKey = (worker: string): Key => ['roster', worker];
/** Rewritten by every commit of a worker's ledger; deleted by the process that declares the worker dead. */
export const fenceKey = (worker: string): Key => ['fence', worker];

/** Scopes that a cost is charged to outside its call: its key, its organization and what else it reserved in. */
export function chargedScopes(
  { keyId, organizationId }: Pick<PayingKey, 'keyId' | 'organizationId'>,
  held: { readonly scopes: readonly Scope[] } | undefined,
): Scope[] {
  const owners: Scope[] = [
    { kind: 'key', id: keyId },
    { kind: 'organization', id: organizationId },
  ];
  const isOwner = ({ kind }: Scope): boolean => owners.some((owner) => owner.kind === kind);
  return [...owners, ...(held?.scopes.filter((scope) => !isOwner(scope)) ?? [])];
}

/** A text that identifies a scope within this process. */
export const scopeName = (scope: Scope): string => `${scope.kind}\0${scope.id}`;
