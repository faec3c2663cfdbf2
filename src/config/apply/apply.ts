import type { ApplyOptions, ApplyReport } from './apply-options.ts';
import { type ActualState, createFinder, type View, withMoves } from '../actual/actual.ts';
import { ApplyRun } from './apply-run.ts';
import type { DesiredState } from '../objects/desired.ts';
import { keepInventory } from './keep-inventory.ts';
import { CONFIG_KINDS, type KindName } from '../objects/kinds.ts';
import { kindsToRead } from '../objects/object-refs.ts';
import type { ResourceClient } from '../actual/resource-client.ts';
import { leftOut } from '../plan/fixed.ts';
import type { Plan } from '../plan/plan.ts';
import { staleness } from '../plan/stale.ts';
import { StalePlanError } from '../plan/stale-plan-error.ts';

/** Reads the objects that a desired state may touch or refer to. */
export async function readActual(
  client: ResourceClient,
  desired: Pick<DesiredState, 'managed' | 'objects'> & Partial<Pick<DesiredState, 'moved'>>,
): Promise<ActualState> {
  const read = kindsToRead(desired);
  const entries = await Promise.all(
    CONFIG_KINDS.map(async ({ kind }): Promise<[KindName, View[]]> => [
      kind,
      read.has(kind) ? await client.list(kind) : [],
    ]),
  );
  const actual = Object.fromEntries(entries) as Record<KindName, View[]>;
  return { ...actual, organization: withMoves(actual.organization, desired) };
}

/**
 * Executes a plan, what an object refers to before the object, removals last and only when nothing
 * else failed. Objects that depend on a failed one are blocked, the others are written. Throws
 * {@link StalePlanError} before the first write when an object changed since the plan was made; so
 * it does when the first write, which has no other in parallel, detects a concurrent apply. An
 * unclear answer is settled by looking at the object before it is tried again or counts as failed.
 */
export async function apply(options: ApplyOptions): Promise<ApplyReport> {
  const { client, desired, owner } = options;
  const actual = options.actual ?? (await refuseStale(options));
  const run = new ApplyRun(options, actual);
  const report = withLeftOut(await run.execute(), options.plan);
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

/** The report with the objects that the plan has no action for although the files say otherwise. */
function withLeftOut(report: ApplyReport, plan: Plan): ApplyReport {
  const stay = leftOut(plan).map((one) => ({ ...one, action: 'none' as const }));
  return stay.length === 0 ? report : { ...report, blocked: [...report.blocked, ...stay] };
}

/**
 * Reads the current objects and refuses a plan that was not made for them.
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
