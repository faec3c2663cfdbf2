import type { Clock } from '../core/time/clock.ts';
import { nextInstant } from '../core/time/cron.ts';
import type { Log } from '../core/log.ts';
import type { Note, Stored } from '../resources/store/stored.ts';
import { deployment } from '../resources/kinds/deployment.ts';
import { scheduleOf } from '../resources/kinds/deployment-fields.ts';
import { claimedOf, DUE_PREFIX, dueKey, dueOps, firstDue } from '../resources/store/due-index.ts';
import type { Repository } from '../resources/store/repository.ts';
import type { Store } from '../store/store.ts';

const PAGE = 64;

export interface RealignDeps {
  readonly store: Pick<Store, 'list'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
  readonly repository: Pick<Repository, 'find' | 'note'>;
}

/** State of a Schedule that ran ahead of the present time: when it fires next. */
interface Ahead {
  readonly lastSlot: number;
  readonly next: number;
  /** An instant comes before that has run already. */
  readonly isSilent: boolean;
}

/**
 * Gives Schedules that fired by a clock that was ahead the next instant of the present one. The log
 * names, once, those that wait because the instants until then have run already.
 */
export async function realign(deps: RealignDeps): Promise<void> {
  const { store, clock } = deps;
  for (let after = dueKey(clock.now(), ''); ;) {
    const page = await store.list<{ organization: string }>({
      prefix: DUE_PREFIX,
      after,
      limit: PAGE,
    });
    const places = page.map(({ key, value }) => ({
      definition: deployment,
      idOrName: String(key[2]),
      organization: value.organization,
    }));
    await Promise.all(places.map((target) => realignOne(deps, target)));
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = dueKey(Number(last.key[1]), String(last.key[2]));
  }
}

type Target = Parameters<Repository['note']>[0];

async function realignOne({ repository, clock, log }: RealignDeps, target: Target): Promise<void> {
  const { idOrName, organization } = target;
  const found = await repository.find(deployment, idOrName, { organization });
  if (!found || !aheadOf(found, clock.now())) return;
  let told: Ahead | undefined;
  await repository.note(target, async (stored) => {
    const ahead = aheadOf(stored, clock.now());
    told = undefined;
    if (!ahead) return undefined;
    const { state } = stored;
    const isNews = ahead.isSilent && state['silence_told'] !== ahead.lastSlot;
    if (!isNews && state['next_due_at'] === ahead.next) return undefined;
    if (isNews) told = ahead;
    return toNote(stored, ahead);
  });
  if (!told) return;
  log.warn('a Schedule is silent: its last run lies in the future, for the clock was set back', {
    deployment: idOrName,
    last: new Date(told.lastSlot).toISOString(),
    next: new Date(told.next).toISOString(),
  });
}

function toNote(stored: Stored, { next, isSilent, lastSlot }: Ahead): Note {
  const state = { next_due_at: next, ...(isSilent && { silence_told: lastSlot }) };
  return { state, ops: dueOps(stored, { ...stored, state: { ...stored.state, ...state } }) };
}

/** Undefined for one whose last instant has passed, or that does not fire. */
function aheadOf({ spec, state }: Stored, now: number): Ahead | undefined {
  const schedule = scheduleOf(spec);
  const claimed = claimedOf(state);
  const { lastSlot } = claimed;
  if (!schedule || lastSlot === null || lastSlot <= now || state['next_due_at'] === null)
    return undefined;
  const next = firstDue(schedule, { ...claimed, now });
  if (next === null) return undefined;
  return { lastSlot, next, isSilent: (nextInstant(schedule, now) ?? next) < next };
}
