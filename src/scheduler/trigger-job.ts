import { GatewayError } from '../core/errors.ts';
import type { JobHandler, JobResult, JobRun, Jobs } from '../jobs/jobs.ts';
import { isArchived } from '../resources/store/stored.ts';
import type { Note, Stored } from '../resources/store/stored.ts';
import { agentConfigOf } from '../resources/kinds/deployment-fields.ts';
import type { TimeoutPolicy } from '../resources/kinds/deployment-fields.ts';
import { deployment, pausedOf } from '../resources/kinds/deployment.ts';
import { runtimeOf } from '../resources/kinds/declared-runtime.ts';
import { dueOps } from '../resources/store/due-index.ts';
import { pinSkills } from '../resources/skills/pin-skills.ts';
import type { Repository } from '../resources/store/repository.ts';
import { resolveAgent } from '../sessions/resolve-agent.ts';
import type { AgentSource } from '../sessions/resolve-agent.ts';
import type { ResolvedAgent } from '../sessions/resolved-agent.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { NOT_WANTED } from '../sessions/start-session.ts';
import type { Op, Store, Version } from '../store/store.ts';
import type { Admitted } from '../surfaces/gate.ts';
import type { PayingKey } from '../usage/principal.ts';
import { isPermanent, toRunError } from './run-error.ts';
import { decideOps } from './run-ops.ts';
import { runKey, statusOf } from './run-row.ts';
import type { RunError, RunRow } from './run-row.ts';
import { timeoutOps } from './timeout-job.ts';

/** Most consecutive failed attempts, crashes included, before the run is given up. */
const MAX_FAILURES = 5;
/** Most attempts that limits may refuse, and the pause after the first; each later one is twice as long. */
const MAX_REFUSALS = 5;
const PAUSE_MS = 1_000;

export interface TriggerJobDeps {
  readonly store: Pick<Store, 'get' | 'commit'>;
  readonly repository: Repository;
  readonly sessions: Pick<Sessions, 'create'>;
  readonly jobs: Pick<Jobs, 'toAdd'>;
  /** Admits a call without a key; throws the `GatewayError` of the gate. */
  admit(payer: PayingKey): Promise<Pick<Admitted, 'leave'>>;
  /** Returns the operations that announce a run that ended, for the commit that decides it. */
  announce(run: RunRow, stored: Stored): readonly Op[];
}

/** A run that is to be decided, as it was seen, with its Schedule. */
interface Pending {
  readonly run: RunRow;
  readonly version: Version;
  readonly stored: Stored;
}

/**
 * Decides runs: a Session in the commit that enters it into the run, or an error. The process that does the job
 * after a crash finds the run pending or decided, so there is one Session at most (requirement
 * deployments.trigger.one-session). A store that fails is tried again; limits are, too, for a while.
 */
export function createTriggerJob(deps: TriggerJobDeps): JobHandler {
  return async ({ job: { id }, attempt, failures, toEnd }: JobRun) => {
    const entry = await deps.store.get<RunRow>(runKey(id));
    if (!entry || statusOf(entry.value) !== 'pending') return 'done';
    const { value: run, version } = entry;
    const { organization, deploymentId } = run;
    const stored = await deps.repository.find(deployment, deploymentId, { organization });
    if (!stored) throw new Error(`the Schedule ${deploymentId} was deleted with a pending run`);
    const pending: Pending = { run, version, stored };
    const begun =
      failures < MAX_FAILURES
        ? await begin(deps, pending, toEnd)
        : {
            error: { type: 'unknown_error' as const, message: 'the session could not be created' },
          };
    if (!('error' in begun)) return begun.result;
    const { error } = begun;
    if (error.type === 'session_rate_limited_error' && attempt < MAX_REFUSALS)
      return { againInMs: PAUSE_MS * 2 ** (attempt - 1) };
    await fail(deps, pending, error);
    return 'done';
  };
}

type Begun = { readonly result: JobResult } | { readonly error: RunError };

/** Makes the Session, in a commit that ends the job as well. Rejects with errors that are to be tried again. */
async function begin(
  deps: TriggerJobDeps,
  pending: Pending,
  toEnd: JobRun['toEnd'],
): Promise<Begun> {
  const { run, stored, version } = pending;
  const { spec } = stored;
  try {
    if (run.trigger.type === 'schedule') (await deps.admit(run.payer)).leave();
    const agent = await agentOf(deps.repository, stored);
    await deps.sessions.create({
      organization: run.organization,
      payer: run.payer,
      entryPoint: 'schedule',
      agent,
      deploymentId: stored.id,
      runId: run.id,
      metadata: spec['metadata'] as Record<string, string>,
      environmentId: spec['environment_id'] as string,
      vaultIds: spec['vault_ids'] as string[],
      resources: spec['resources'] as unknown[],
      events: spec['initial_events'] as unknown[],
      also({ session }) {
        const decided: RunRow = { ...run, agent: toReference(agent), sessionId: session.id };
        const policy = spec['timeout_policy'] as TimeoutPolicy | null;
        return [
          ...decideOps(decided, version),
          ...timeoutOps(session, policy, deps.jobs),
          ...deps.announce(decided, stored),
          ...(toEnd?.() ?? []),
        ];
      },
    });
    return { result: toEnd ? 'ended' : 'done' };
  } catch (thrown) {
    // Another process has decided the run, or the lease was renewed meanwhile: the next run of the job finds
    // out.
    if (thrown instanceof GatewayError && thrown.type === NOT_WANTED)
      return { result: toEnd ? { againInMs: 0 } : 'done' };
    const error = toRunError(thrown);
    if (error) return { error };
    throw thrown;
  }
}

/** Returns the Agent as it is bound, with the overrides for its Sessions. */
async function agentOf(
  repository: Repository,
  { spec, organization }: Stored,
): Promise<ResolvedAgent> {
  const owner = organization ?? '';
  const overrides = agentConfigOf(spec) ?? undefined;
  const prefix = 'agent_config.';
  const agent = await resolveAgent(repository, owner, { ...sourceOf(spec), overrides, prefix });
  // A Skill may be gone by now; turns could not read it.
  await pinSkills([...agent.skills], repository.lookupIn(owner), {});
  return agent;
}

function sourceOf(spec: Stored['spec']): AgentSource {
  const runtime = runtimeOf(spec);
  if (runtime !== null) return { name: spec.name, runtime };
  return { agentId: String(spec['agent_id']), version: Number(spec['agent_version']) };
}

function toReference({ id, version }: ResolvedAgent): RunRow['agent'] {
  return id === null || version === null ? null : { id, version };
}

/** Does nothing when the run is decided by now. */
async function fail(deps: TriggerJobDeps, pending: Pending, error: RunError): Promise<void> {
  const { run, version, stored } = pending;
  const decided: RunRow = { ...run, error };
  const ops = [...decideOps(decided, version), ...deps.announce(decided, stored)];
  if (run.trigger.type === 'manual' || !isPermanent(error))
    return void (await deps.store.commit(ops));
  const { organization } = run;
  const target = { definition: deployment, idOrName: stored.id, organization };
  await deps.repository.note(target, async (current): Promise<Note | undefined> => {
    const entry = await deps.store.get<RunRow>(runKey(run.id));
    if (entry?.version !== version) return undefined;
    // A change meanwhile may have removed the cause; a pause meanwhile has said why.
    const isAsSeen = current.version === stored.version;
    if (!isAsSeen || isArchived(current) || pausedOf(current) !== null) return { state: {}, ops };
    const state = { paused: { type: 'error', error: { type: error.type } }, next_due_at: null };
    const next = { ...current, state: { ...current.state, ...state } };
    return { state, ops: [...ops, ...dueOps(current, next)] };
  });
}
