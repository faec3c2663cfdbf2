import type { Clock } from '../core/time/clock.ts';
import { latestInstant, upcomingInstants } from '../core/time/cron.ts';
import type { CronSchedule } from '../core/time/cron.ts';
import { GatewayError } from '../core/errors.ts';
import type { IdSource } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import { CommitStart } from '../jobs/commit-start.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Note, Stored } from '../resources/store/stored.ts';
import { deployment } from '../resources/kinds/deployment.ts';
import { scheduleOf } from '../resources/kinds/deployment-fields.ts';
import {
  claimedOf,
  dueKey,
  dueOps,
  firstDue,
  isClaimed,
  withClaim,
} from '../resources/store/due-index.ts';
import type { Repository } from '../resources/store/repository.ts';
import type { Store } from '../store/store.ts';
import { beginOps, triggerJob } from './run-ops.ts';
import { slotKey } from './run-row.ts';
import type { RunRow } from './run-row.ts';

/** A missed instant fires within this time; an older one never. */
const GRACE_MS = 10 * 60_000;
/** No two instants of one Schedule are closer together. */
const SPACING_MS = 60_000;
/** More are not counted. */
const MAX_COUNTED = 20;

export interface ClaimDeps {
  readonly store: Pick<Store, 'get' | 'commit'>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Pick<Log, 'warn'>;
  readonly repository: Pick<Repository, 'find' | 'note'>;
  readonly jobs: Pick<Jobs, 'toStart'>;
}

/** A row of the due index. */
export interface Due {
  readonly deploymentId: string;
  readonly organization: string;
  /** Milliseconds since epoch. */
  readonly at: number;
}

/** Outcome of an instant that is due. */
interface Slot {
  /** The latest instant that has come. */
  readonly instant: number;
  /** False: it came too long ago to fire. */
  readonly isFresh: boolean;
}

/**
 * Takes due instants for this process: a pending run for the latest instant that has come, and the next one in
 * the index, in the commit that rewrites the row of the Schedule. So a pause, an update and every other process
 * that claims comes before it or after it (requirement scheduler.one-run-per-slot).
 *
 * @returns false when it is not due any more
 */
export async function claimDue(deps: ClaimDeps, due: Due): Promise<boolean> {
  const { store, clock, ids } = deps;
  const start = new CommitStart(deps.jobs);
  const { deploymentId, organization, at } = due;
  const id = ids.next('drun');
  let taken: Slot | undefined;
  let tries = 0;
  const claim = noteIfThere(deps, due, async (stored) => {
    const now = clock.now();
    const schedule = scheduleOf(stored.spec);
    taken = undefined;
    if (!schedule || stored.state['next_due_at'] !== at || at > now) return undefined;
    const instant = now - at < SPACING_MS ? at : latest(schedule, at, now);
    taken = { instant, isFresh: now - instant <= GRACE_MS };
    const slot = slotKey(deploymentId, instant);
    // The first look is not enough: another process with the instant has moved the Schedule on, too.
    const claimed = claimedOf(stored.state);
    const isFree = !isClaimed(claimed, instant) && (tries++ === 0 || !(await store.get(slot)));
    const isFired = taken.isFresh && isFree;
    const slots = withClaim(schedule, claimed, {
      from: at,
      slot: instant,
      isFired: taken.isFresh,
    });
    const state = {
      next_due_at: firstDue(schedule, { ...claimedOf(slots), now: Math.max(now, instant) }),
      ...slots,
      ...(isFired && { last_run_at: new Date(now).toISOString() }),
    };
    const ops = dueOps(stored, { ...stored, state: { ...stored.state, ...state } });
    if (!isFired) return { state, ops };
    const run = toRun(stored, { id, organization, scheduledAt: instant, now });
    ops.push({ type: 'put', key: slot, value: id, ifAbsent: true });
    return { state, ops: [...ops, ...beginOps(run), ...(await start.opsFor(triggerJob(run)))] };
  });
  const stored = await claim.finally(() => start.settle());
  const schedule = stored && scheduleOf(stored.spec);
  if (taken && schedule) tellSkipped(deps.log, due, { ...taken, schedule });
  if (!taken) await dropStale(deps, due);
  return taken !== undefined;
}

/** Undefined when the Schedule is deleted. */
async function noteIfThere(
  { repository }: ClaimDeps,
  { deploymentId, organization }: Due,
  change: (stored: Stored) => Promise<Note | undefined>,
): Promise<Stored | undefined> {
  const target = { definition: deployment, idOrName: deploymentId, organization };
  try {
    return await repository.note(target, change);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/**
 * Returns the latest instant of the schedule up to `until`, or `at` itself where the zones of this
 * process do not know it as an instant any more.
 */
function latest(schedule: CronSchedule, at: number, until: number): number {
  return latestInstant(schedule, { after: at - 1, until }) ?? at;
}

function toRun(
  { id: deploymentId, spec }: Stored,
  fired: { id: string; organization: string; scheduledAt: number; now: number },
): RunRow {
  const { id, organization, scheduledAt, now } = fired;
  return {
    id,
    organization,
    deploymentId,
    agent: boundAgent(spec),
    trigger: { type: 'schedule', scheduledAt },
    payer: { keyId: deploymentId, keyName: 'schedule', organizationId: organization },
    sessionId: null,
    error: null,
    createdAt: new Date(now).toISOString(),
  };
}

/** Null for a declarative Schedule. */
export function boundAgent({ agent_id: id, agent_version: version }: Stored['spec']) {
  return typeof id === 'string' ? { id, version: Number(version) } : null;
}

/** One line for each Schedule, however much it missed. */
function tellSkipped(
  log: ClaimDeps['log'],
  { deploymentId, at }: Due,
  { instant, isFresh, schedule }: Slot & { schedule: CronSchedule },
): void {
  const until = isFresh ? instant - 1 : instant;
  if (until < at) return;
  const missed = upcomingInstants(schedule, at - 1, MAX_COUNTED).filter((one) => one <= until);
  log.warn('missed runs of a Schedule were skipped', {
    deployment: deploymentId,
    skipped: missed.length < MAX_COUNTED ? missed.length : `${MAX_COUNTED} or more`,
    first: new Date(at).toISOString(),
    last: new Date(latest(schedule, at, until)).toISOString(),
  });
}

/** A row without a Schedule would be looked at for ever. The writer of a new one writes it again. */
async function dropStale({ store, repository }: ClaimDeps, due: Due): Promise<void> {
  const { deploymentId, organization, at } = due;
  const key = dueKey(at, deploymentId);
  const row = await store.get(key);
  if (!row) return;
  const stored = await repository.find(deployment, deploymentId, { organization });
  if (stored?.state['next_due_at'] === at) return;
  await store.commit([{ type: 'delete', key, ifVersion: row.version }]);
}
