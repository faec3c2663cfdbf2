import type { ActualState } from '../actual/actual.ts';
import type { Owner } from '../actual/ownership.ts';
import type { ResourceClient } from '../actual/resource-client.ts';
import type { DesiredState } from '../objects/desired.ts';
import type { ReferenceSources, SecretRef } from '../objects/references.ts';
import type { Plan } from '../plan/plan.ts';
import { resolveAllSecrets } from '../read/secrets.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { ApplyOptions, ApplyReport } from './apply-options.ts';
import { apply } from './apply.ts';

/** A plan, with where and for whom it is carried out. */
export interface Planned {
  readonly plan: Plan;
  /** Declarations as the plan knows them: with organizations by their names. */
  readonly desired: DesiredState;
  readonly owner: Owner;
  readonly client: ResourceClient;
  /** State that was read just now. Default: it is read again before the first write. */
  readonly actual?: ActualState;
}

type Writing = Pick<ApplyOptions, 'runId' | 'parallelism' | 'isStrict' | 'signal'>;

export interface DeployOptions<P extends Planned, W> extends Writing {
  readonly desired: DesiredState;
  readonly sources: ReferenceSources;
  /** Reads the current objects and compares, or takes a plan that was made before. */
  readonly plan: (secrets: ReadonlyMap<SecretRef, string>) => Promise<P>;
  /** Shows the plan and asks; throws to refuse it, and false ends here. Default: it is carried out. */
  readonly confirm?: (planned: P) => Promise<boolean>;
  /** Gives the receiver of each object that is done with. Default: none. */
  readonly progress?: (plan: Plan) => ApplyOptions['onOutcome'];
  /** Waits for the written objects, if there are any and none failed. Default: no wait. */
  readonly wait?: (planned: P, report: ApplyReport) => Promise<W>;
}

export interface Deployed<P extends Planned, W> {
  /** Secrets that are missing; then nothing was read or written. */
  readonly diagnostics: readonly Diagnostic[];
  readonly planned?: P;
  /** Absent where the plan was not confirmed. */
  readonly report?: ApplyReport;
  /** Result of the wait, where there was one. */
  readonly waited?: W;
}

/**
 * Makes stored objects what valid files declare, for `apply`, start and reload alike: resolves
 * secrets, reads and plans, asks, writes and waits, in this order, so that a missing secret or a
 * refused plan changes nothing.
 *
 * @throws StalePlanError as {@link apply} does
 */
export async function deploy<P extends Planned, W = never>(
  options: DeployOptions<P, W>,
): Promise<Deployed<P, W>> {
  const { sources, plan: compare, confirm, progress, wait, desired: declared, ...rest } = options;
  const { secrets, diagnostics } = await resolveAllSecrets(declared, sources);
  if (diagnostics.length > 0) return { diagnostics };
  const planned = await compare(secrets);
  const { plan, desired, owner, client, actual } = planned;
  if (confirm !== undefined && !(await confirm(planned))) return { diagnostics, planned };
  const isEmpty = plan.summary.total === 0;
  const onOutcome = progress?.(plan);
  const report = await apply({
    ...rest,
    plan,
    desired,
    owner,
    client,
    secrets,
    // An apply that writes reads the objects again, for the plan may have waited for its approval.
    actual: isEmpty ? actual : undefined,
    ...(onOutcome && { onOutcome }),
  });
  const done = { diagnostics, planned, report };
  if (wait === undefined || isEmpty || !isWhole(report)) return done;
  return { ...done, waited: await wait(planned, report) };
}

function isWhole({ failed, blocked, notRun, unrecorded }: ApplyReport): boolean {
  return failed.length + blocked.length + notRun.length === 0 && unrecorded === undefined;
}
