import { describe, expect, it } from 'vitest';
import { beginOps, decideOps } from '../../src/scheduler/run-ops.ts';
import { createRunSweep } from '../../src/scheduler/run-sweep.ts';
import { NOTIFY_JOB } from '../../src/scheduler/job-kinds.ts';
import { runKey } from '../../src/scheduler/run-row.ts';
import type { RunRow } from '../../src/scheduler/run-row.ts';
import { sweepRound } from '../support/sweep-round.ts';
import { createRig } from './support.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('the beginning of a run', () => {
  it('is refused where there is a run of that id', async () => {
    const { store, organization } = await createRig();
    const run: RunRow = {
      id: 'drun_1',
      organization,
      deploymentId: 'depl_1',
      agent: null,
      trigger: { type: 'manual' },
      payer: { keyId: 'key_1', keyName: 'ci', organizationId: organization },
      sessionId: null,
      error: null,
      createdAt: '2026-11-21T00:00:00.000Z',
    };
    const begin = () => store.commit(beginOps(run));
    expect((await begin()).ok).toBe(true);
    expect((await begin()).ok).toBe(false);
  });
});

describe('the sweep of runs', () => {
  it('removes decided runs past their age with their claims, and keeps the newest', async () => {
    const rig = await createRig();
    rig.start();
    const id = await rig.make('0 * * * *');
    await rig.pass(2 * DAY);
    const all = await rig.firedAt(id);
    expect(all).toHaveLength(48);
    const sweep = createRunSweep(rig);
    const slots = () => rig.store.list({ prefix: ['schedule-slot'], limit: 1_000 });
    const round = await sweepRound(sweep, rig.clock.now() - DAY, 7);
    expect(round).toMatchObject({ removed: 23, steps: 4 });
    expect(await rig.firedAt(id)).toEqual(all.slice(23));
    expect((await slots()).map(({ key }) => key[2])).toEqual(all.slice(23).map(Date.parse));
    // Nothing is left of them in any list.
    const page = await rig.scheduler.runs.list(rig.organization, { limit: 1_000 });
    expect(page).toHaveLength(25);
    expect((await sweepRound(sweep, rig.clock.now() + DAY)).removed).toBe(24);
    expect(await rig.firedAt(id)).toEqual(all.slice(-1));
    expect((await rig.stored(id)).state['last_run_at']).toBe(all.at(-1));
    await rig.resources.call(`DELETE deployments/${id}`, {
      organization: rig.organization,
      platform: false,
    });
    expect((await sweepRound(sweep, rig.clock.now() + DAY)).removed).toBe(1);
    expect([await slots(), await rig.store.list({ prefix: ['schedule-run'] })]).toEqual([[], []]);
    expect(await rig.store.list({ prefix: ['schedule-run-by'] })).toEqual([]);
  });

  it('fires no instant a second time whose claim is gone, wherever the clock is set', async () => {
    const fired: string[] = [];
    const rig = await createRig({
      announce({ trigger }) {
        if (trigger.type === 'schedule') fired.push(new Date(trigger.scheduledAt).toISOString());
        return [];
      },
    });
    rig.start();
    const id = await rig.make('*/30 * * * *');
    await rig.pass(6 * HOUR);
    const sweep = createRunSweep(rig);
    for (const back of [5 * 60_000, 40 * 60_000, 3 * HOUR, 2 * DAY]) {
      await sweepRound(sweep, rig.clock.now() - HOUR);
      await rig.step(-back);
      await rig.call(`POST deployments/${id}/pause`);
      await rig.call(`POST deployments/${id}/unpause`);
      await rig.call(`PATCH deployments/${id}`, {
        schedule: { type: 'cron', expression: '*/15 * * * *', timezone: 'UTC' },
      });
      await rig.pass(back + HOUR);
    }
    expect(new Set(fired).size).toBe(fired.length);
    expect(fired.length).toBeGreaterThan(12);
  });

  it('leaves runs alone that are pending or not announced yet', async () => {
    const rig = await createRig();
    const id = await rig.make();
    const make = async (name: string, isDecided: boolean): Promise<string> => {
      const run: RunRow = {
        id: `drun_${name}`,
        organization: rig.organization,
        deploymentId: id,
        agent: null,
        trigger: { type: 'manual' },
        payer: { keyId: 'key_1', keyName: 'first', organizationId: rig.organization },
        sessionId: null,
        error: null,
        createdAt: new Date(rig.clock.now()).toISOString(),
      };
      await rig.store.commit(beginOps(run));
      const entry = await rig.store.get(runKey(run.id));
      const decided = { ...run, sessionId: 'sess_1' };
      if (isDecided) await rig.store.commit(decideOps(decided, entry?.version ?? ''));
      return run.id;
    };
    const [pending, , told, newest] = [
      await make('a', false),
      await make('b', true),
      await make('c', true),
      await make('d', true),
    ];
    await rig.jobs.add({ kind: NOTIFY_JOB, id: told, payload: null });
    rig.clock.advance(DAY);
    const sweep = createRunSweep(rig);
    expect(await sweepRound(sweep, rig.clock.now() - HOUR, 1)).toMatchObject({ removed: 1 });
    expect((await rig.runsOf(id)).map((run) => run.id)).toEqual([pending, told, newest]);
    await rig.jobs.remove(NOTIFY_JOB, told);
    expect(await sweepRound(sweep, rig.clock.now() - HOUR)).toMatchObject({ removed: 1 });
    expect((await rig.runsOf(id)).map((run) => run.id)).toEqual([pending, newest]);
  });
});
