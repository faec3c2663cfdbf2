import type { Change } from '../actual/changes.ts';
import type { Removal } from '../../resources/store/define-resource.ts';
import type { KindName } from '../objects/kinds.ts';
import type { Ownership } from '../actual/ownership.ts';

/**
 * `apply` removes nothing, `prune` removes what carries our namespace and is no longer declared,
 * `converge` (start and reload) does so for the models and providers of this file.
 */
export type PlanMode = 'apply' | 'prune' | 'converge';

export type ActionName = 'create' | 'update' | 'replace' | Removal | 'none';

/**
 * Origin of a difference: a file that changed since the last apply, another client of the server
 * since then, or both of them.
 */
export type Origin = 'configuration' | 'server' | 'both';

export interface PlannedChange extends Change {
  /** Absent at creation and removal, and where nothing was applied before. */
  readonly origin?: Origin;
  /** Short digests of the stored and of the declared value of a secret, where the server compared them. */
  readonly fingerprints?: readonly [stored: string, declared: string];
}

export interface PlanAction {
  readonly kind: KindName;
  readonly identity: string;
  readonly action: ActionName;
  /** Null before the creation. */
  readonly id: string | null;
  /** The version that the plan is made for; apply refuses another. */
  readonly version: number | null;
  readonly changes: readonly PlannedChange[];
  readonly reason: string;
  readonly ownership: Ownership;
  /** Present where the object must be paused for the update. */
  readonly steps?: readonly ['pause', 'update', 'unpause'] | readonly ['pause', 'update'];
  /** Says what happens beyond the changes. */
  readonly note?: string;
  /** Digests of the members that the object had, by name, so that a refusal can name what changed. */
  readonly basis?: Readonly<Record<string, string>>;
  /** Fields that no update can change, so that the object gets a new id. */
  readonly forcedBy?: readonly string[];
}
