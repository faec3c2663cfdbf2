import { isOk } from '../journal.ts';
import { ask } from '../stage.ts';
import type { Stage } from '../stage.ts';
import { repeat } from './repeat.ts';
import { must } from './sessions.ts';
import type { Agents } from './sessions.ts';

const CRON_SCHEDULES = 6;
const EVERY_MS = 900;

/** Schedules that are due every minute, and one that is triggered by hand. */
export async function makeSchedules(stage: Stage, agents: Agents): Promise<void> {
  for (let index = 0; index <= CRON_SCHEDULES; index++) {
    const isCron = index < CRON_SCHEDULES;
    const text = `report #${stage.journal.newMark('p')}#`;
    const body = {
      name: `schedule ${index}`,
      agent: agents.plain,
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
      ...(isCron && { schedule: { type: 'cron', expression: '* * * * *', timezone: 'UTC' } }),
    };
    const made = await must(ask(stage, ['schedule.create', 'POST /v1/deployments'], { body }));
    const { id } = made as { id: string };
    stage.journal.deployments.push({ id, isCron, madeAt: stage.time.now() });
  }
}

/** Nothing is due any more while everything is looked at. Gives when it began, in the gateways' time. */
export async function pauseSchedules(stage: Stage): Promise<number> {
  const began = stage.time.now();
  for (const { id } of stage.journal.deployments)
    await must(ask(stage, ['schedule.pause', `POST /v1/deployments/${id}/pause`]));
  return began;
}

export function startTriggers(stage: Stage, until: AbortSignal): Promise<void>[] {
  const { deployments, runs } = stage.journal;
  const deployment = deployments.find(({ isCron }) => !isCron)?.id ?? '';
  const work = async (): Promise<void> => {
    const run = await ask(stage, ['run.trigger', `POST /v1/deployments/${deployment}/runs`]);
    if (isOk(run)) runs.push({ id: run.body.id, deployment, session: run.body.session_id });
  };
  return [repeat(stage, { until, everyMs: EVERY_MS, work })];
}
