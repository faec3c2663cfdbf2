import type { Clock } from '../core/time/clock.ts';
import { GatewayError } from '../core/errors.ts';
import type { IdSource } from '../core/ids.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { isArchived } from '../resources/store/stored.ts';
import { deployment } from '../resources/kinds/deployment.ts';
import type { Repository } from '../resources/store/repository.ts';
import type { Store } from '../store/store.ts';
import { boundAgent } from './claim-due.ts';
import { beginOps, triggerJob } from './run-ops.ts';
import { runKey, statusOf } from './run-row.ts';
import type { RunRow } from './run-row.ts';
import type { TriggerInput } from './scheduler.ts';

/** Longest wait of a caller for the outcome of a run, in milliseconds. */
const WAIT_MS = 10_000;

export interface HandDeps {
  readonly store: Pick<Store, 'get' | 'watch'>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly repository: Pick<Repository, 'note'>;
  readonly jobs: Pick<Jobs, 'toAdd'>;
}

/** See `Scheduler.trigger`; resolves with the pending run, or with the one that the call made before. */
export async function triggerByHand(
  { store, clock, ids, repository, jobs }: HandDeps,
  { organization, deploymentId, payer, named, by }: TriggerInput,
): Promise<RunRow> {
  const earlier = named?.earlier;
  const made = earlier === undefined ? undefined : await store.get<RunRow>(runKey(earlier));
  if (made) return made.value;
  const pending: RunRow = {
    id: ids.next('drun'),
    organization,
    deploymentId,
    agent: null,
    trigger: { type: 'manual' },
    payer,
    sessionId: null,
    error: null,
    createdAt: new Date(clock.now()).toISOString(),
  };
  const target = { definition: deployment, idOrName: deploymentId, organization, by };
  const stored = await repository.note(target, async (stored) => {
    if (isArchived(stored)) throw archived(deploymentId);
    const run: RunRow = { ...pending, agent: boundAgent(stored.spec) };
    const begun = [...beginOps(run), ...jobs.toAdd(triggerJob(run))];
    const lookUp = `GET /v1/deployment_runs/${pending.id}`;
    const name = (await named?.made({ id: pending.id, lookUp })) ?? [];
    return { action: 'run', state: {}, ops: [...begun, ...name] };
  });
  return { ...pending, agent: boundAgent(stored.spec) };
}

/** Resolves with the run when it is decided, in time or with `signal` aborted as it was last seen. */
export function untilDecided(
  { store, clock }: Pick<HandDeps, 'store' | 'clock'>,
  run: RunRow,
  signal: AbortSignal,
): Promise<RunRow> {
  return new Promise((resolve) => {
    let seen = run;
    const finish = (): void => {
      unwatch();
      timer.cancel();
      signal.removeEventListener('abort', finish);
      resolve(seen);
    };
    const look = async (): Promise<void> => {
      try {
        seen = (await store.get<RunRow>(runKey(run.id)))?.value ?? seen;
        if (statusOf(seen) !== 'pending') finish();
      } catch {
        // The run is durable: a read that fails now succeeds later.
      }
    };
    const unwatch = store.watch(runKey(run.id), () => void look());
    const timer = clock.setTimeout(finish, WAIT_MS);
    signal.addEventListener('abort', finish);
    if (signal.aborted) finish();
    else void look();
  });
}

function archived(id: string): GatewayError {
  const message = `deployment ${id} is archived`;
  return new GatewayError('conflict', { message, type: 'deployment_archived', retry: false });
}
