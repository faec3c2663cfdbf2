import { type ActualState, createFinder, type View } from '../actual/actual.ts';
import { ApplyRun } from './apply-run.ts';
import type { DesiredState } from '../objects/desired.ts';
import { keepInventory } from './keep-inventory.ts';
import { CONFIG_KINDS, type KindName } from '../objects/kinds.ts';
import { kindsToRead } from '../objects/object-refs.ts';
import type { Owner } from '../actual/ownership.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlanAction } from '../plan/plan-action.ts';
import type { SecretRef } from '../objects/references.ts';
import type { ResourceClient } from '../actual/resource-client.ts';
import { staleness } from '../plan/stale.ts';
import { StalePlanError } from '../plan/stale-plan-error.ts';

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
  /** Not tried because something it refers to failed. */
  readonly blocked: readonly ApplyOutcome[];
  /** Not tried because a stop was asked for, or, for removals, because something failed. */
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
  /** True lets no object begin before one that stands ahead of it in the plan. Default false. */
  isStrict?: boolean;
  /** Waits so many milliseconds before a write is tried again. Default: a timer. */
  pause?: (ms: number) => Promise<void>;
  /** Receives every object that is done with, in that order. */
  onOutcome?: (outcome: ApplyOutcome, what: 'applied' | 'failed' | 'blocked') => void;
  signal?: AbortSignal;
}

/** Reads the objects that a desired state may touch or refer to. */
export async function readActual(
  client: ResourceClient,
  desired: Pick<DesiredState, 'managed' | 'objects'>,
): Promise<ActualState> {
  const read = kindsToRead(desired);
  const entries = await Promise.all(
    CONFIG_KINDS.map(async ({ kind }): Promise<[KindName, View[]]> => [
      kind,
      read.has(kind) ? await client.list(kind) : [],
    ]),
  );
  return Object.fromEntries(entries) as Record<KindName, View[]>;
}

/**
 * Executes a plan, what an object refers to before the object, removals last and only when nothing else
 * failed. What depends on a failed object is blocked, the rest goes on. Throws {@link StalePlanError}
 * before the first write when an object changed since the plan was made; so it does when the first write,
 * which goes alone, finds that somebody else applies at the same time. An unclear answer is settled by
 * looking at the object before it is tried again or counts as failed.
 */
export async function apply(options: ApplyOptions): Promise<ApplyReport> {
  const { client, desired, owner } = options;
  const actual = options.actual ?? (await refuseStale(options));
  const run = new ApplyRun(options, actual);
  const report = await run.execute();
  const unrecorded = await keepInventory(client, desired.namespace, {
    desired,
    owner,
    found: actual,
    left: run.left,
    report,
    read: () => readActual(client, desired),
    pause: options.pause,
  }).then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof Error ? thrown.message : 'unknown reason'),
  );
  return unrecorded === undefined ? report : { ...report, unrecorded };
}

/**
 * Reads what there is and refuses a plan that was not made for it.
 *
 * @throws StalePlanError
 */
export async function refuseStale({
  plan,
  client,
  desired,
  owner,
}: Pick<ApplyOptions, 'plan' | 'client' | 'desired' | 'owner'>): Promise<ActualState> {
  const actual = await readActual(client, desired);
  const state = { actual, owner, desired };
  const find = createFinder();
  const stale = plan.actions.flatMap((action) => {
    const reason = staleness(action, state, find);
    return reason === undefined ? [] : [{ kind: action.kind, identity: action.identity, reason }];
  });
  if (stale.length > 0) throw new StalePlanError(stale);
  return actual;
}
