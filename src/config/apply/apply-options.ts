import type { ActualState } from '../actual/actual.ts';
import type { Owner } from '../actual/ownership.ts';
import type { ResourceClient } from '../actual/resource-client.ts';
import type { DesiredState } from '../objects/desired.ts';
import type { KindName } from '../objects/kinds.ts';
import type { SecretRef } from '../objects/references.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlanAction } from '../plan/plan-action.ts';

interface ApplyOutcome {
  readonly kind: KindName;
  readonly identity: string;
  readonly action: PlanAction['action'];
  readonly id: string | null;
  /** Reason of a failure, or the object that it waited for. */
  readonly reason?: string;
}

/** Each list is in the order of the plan. */
export interface ApplyReport {
  readonly applied: readonly ApplyOutcome[];
  readonly failed: readonly ApplyOutcome[];
  /** Objects left out because something they refer to failed. */
  readonly blocked: readonly ApplyOutcome[];
  /** Objects left out because a stop was asked for, or, for removals, because something failed. */
  readonly notRun: readonly ApplyOutcome[];
  /** Values of keys that the server made up; they cannot be had again. */
  readonly issued: readonly { readonly identity: string; readonly value: string }[];
  /** Reason why the inventory of the namespace was not written; the next apply writes it. */
  readonly unrecorded?: string;
}

export interface ApplyOptions {
  plan: Plan;
  desired: DesiredState;
  owner: Owner;
  client: ResourceClient;
  /** Resolved before the first write, by their written form (see `resolveAllSecrets`). */
  secrets: ReadonlyMap<SecretRef, string>;
  /** State that was read just now, where nothing is to be written. Default: it is read. */
  actual?: ActualState | undefined;
  /** Names this apply among all others, so that a creation that is tried again makes one object. */
  runId?: string | undefined;
  /** Most objects that are written at once. Default: 1. */
  parallelism?: number;
  /** True begins objects strictly in the order of the plan. Default false. */
  isStrict?: boolean;
  /** Waits so many milliseconds before a write is tried again. Default: a timer. */
  pause?: (ms: number) => Promise<void>;
  /** Receives every object that is done with, in that order. */
  onOutcome?: (outcome: ApplyOutcome, what: 'applied' | 'failed' | 'blocked') => void;
  signal?: AbortSignal;
}
