import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { upcomingInstants } from '../../src/core/time/cron.ts';
import { deployment } from '../../src/resources/kinds/deployment.ts';
import { statusOf } from '../../src/scheduler/run-row.ts';
import { verifies } from '../requirements.ts';
import { createProcess, createRig, quiet } from './support.ts';
import type { Rig } from './support.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const GRACE = 10 * MINUTE;

/** Another process takes the place of the one that fired so far. */
async function restart(rig: Rig) {
  await rig.close();
  const { store, clock, repository } = rig;
  const fresh = createProcess({ store, clock, repository, worker: `b${clock.now()}` });
  onTestFinished(() => fresh.close());
  fresh.start();
  await quiet(store, clock);
  return fresh;
}

const act = (rig: Rig, id: string, action: string) => rig.call(`POST deployments/${id}/${action}`);

describe('a Schedule', () => {
  it(
    verifies(
      'deployments.trigger.scheduled',
      'deployments.trigger.one-session',
      'runs.outcome.transitions',
      'makes a run and a Session each time it is due',
    ),
    async () => {
      const rig = await createRig();
      rig.start();
      const id = await rig.make('0 7 * * *', {
        metadata: { team: 'ops' },
        vault_ids: ['vlt_1'],
        resources: [{ type: 'file', file_id: 'file_1' }],
        environment_id: 'env_9',
      });
      await rig.pass(2 * DAY);
      const runs = await rig.runsOf(id);
      const sessions = await rig.sessionsOf(id);
      const due = ['2026-11-21T07:00:00.000Z', '2026-11-22T07:00:00.000Z'];
      expect(await rig.firedAt(id)).toEqual(due);
      expect(runs.map(statusOf)).toEqual(['succeeded', 'succeeded']);
      expect(runs.map(({ sessionId }) => sessionId)).toEqual(sessions.map((one) => one.id));
      expect(runs[0]).toMatchObject({
        agent: { id: rig.agent, version: 1 },
        payer: { keyId: id, keyName: 'schedule', organizationId: rig.organization },
        createdAt: due[0],
      });
      expect(sessions[0]).toMatchObject({
        entryPoint: 'schedule',
        deploymentId: id,
        metadata: { team: 'ops' },
        vaultIds: ['vlt_1'],
        resources: [{ type: 'file', file_id: 'file_1' }],
        environmentId: 'env_9',
        agentId: rig.agent,
      });
      const { events } = await rig.sessions.read(rig.organization, sessions[0]?.id ?? '', {});
      expect(events[0]?.event).toMatchObject(rig.firstEvent);
      const { state } = await rig.stored(id);
      expect(state).toMatchObject({ last_run_at: due[1], paused: null });
    },
  );

  it('fires at once when it is put before all others', async () => {
    const rig = await createRig();
    await rig.make('0 7 1 1 *');
    rig.start();
    await quiet(rig.store, rig.clock);
    const id = await rig.make('1 0 * * *');
    await rig.pass(2 * MINUTE);
    expect(await rig.firedAt(id)).toEqual(['2026-11-21T00:01:00.000Z']);
  });

  it(
    verifies('scheduler.missed-slots', 'fires the latest of what it missed, within ten minutes'),
    async () => {
      const rig = await createRig();
      const minutely = await rig.make('* * * * *');
      const hourly = await rig.make('5 * * * *');
      rig.clock.advance(HOUR + 16 * MINUTE);
      rig.start();
      await quiet(rig.store, rig.clock);
      expect(await rig.firedAt(minutely)).toEqual(['2026-11-21T01:16:00.000Z']);
      expect(await rig.firedAt(hourly)).toEqual([]);
      expect(rig.warnings).toHaveLength(2);
      expect(rig.warnings).toContainEqual({
        message: 'missed runs of a Schedule were skipped',
        deployment: minutely,
        skipped: '20 or more',
        first: '2026-11-21T00:01:00.000Z',
        last: '2026-11-21T01:15:00.000Z',
      });
      expect(rig.warnings).toContainEqual({
        message: 'missed runs of a Schedule were skipped',
        deployment: hourly,
        skipped: 2,
        first: '2026-11-21T00:05:00.000Z',
        last: '2026-11-21T01:05:00.000Z',
      });
      await rig.pass(MINUTE);
      expect(await rig.firedAt(minutely)).toHaveLength(2);
    },
  );

  it.each([
    [GRACE, 1],
    [GRACE + 1, 0],
  ])('that is due %d ms ago fires %d times', async (late, times) => {
    const rig = await createRig();
    const id = await rig.make('0 7 * * *');
    rig.clock.advance(7 * HOUR + late);
    rig.start();
    await quiet(rig.store, rig.clock);
    expect(await rig.firedAt(id)).toHaveLength(times);
    expect(rig.warnings).toHaveLength(1 - times);
  });

  it(
    verifies('scheduler.pause-race', 'fires nothing that came while it was paused, nor again'),
    async () => {
      const rig = await createRig();
      rig.start();
      const id = await rig.make('*/5 * * * *');
      await rig.pass(5 * MINUTE - 1);
      await act(rig, id, 'pause');
      await rig.pass(7 * MINUTE);
      expect(await rig.firedAt(id)).toEqual([]);
      await act(rig, id, 'unpause');
      await rig.pass(MINUTE);
      expect(await rig.firedAt(id)).toEqual([]);
      await rig.pass(3 * MINUTE);
      expect(await rig.firedAt(id)).toEqual(['2026-11-21T00:15:00.000Z']);
      const schedule = { type: 'cron', expression: '*/15 * * * *', timezone: 'UTC' };
      await rig.call(`PATCH deployments/${id}`, { schedule });
      await restart(rig);
      expect(await rig.firedAt(id)).toHaveLength(1);
      await rig.pass(15 * MINUTE);
      expect((await rig.firedAt(id)).slice(1)).toEqual(['2026-11-21T00:30:00.000Z']);
    },
  );

  it(
    verifies(
      'cli.schedules.declared-paused',
      'that is made as paused never fires, whenever it is made, until it is let run',
    ),
    async () => {
      const rig = await createRig({ startAt: '2026-11-21T00:00:59.990Z' });
      rig.start();
      const ids: string[] = [];
      for (let index = 0; index < 20; index++) {
        ids.push(await rig.make('* * * * *', { paused: true }));
        await rig.pass(1);
      }
      await rig.pass(3 * HOUR);
      for (const id of ids) expect(await rig.runsOf(id)).toEqual([]);
      const [id = ''] = ids;
      await rig.call(`PATCH deployments/${id}`, { paused: false });
      await rig.pass(2 * MINUTE);
      expect(await rig.firedAt(id)).toHaveLength(2);
      await rig.call(`PATCH deployments/${id}`, { paused: true, name: 'still' });
      await rig.pass(HOUR);
      expect(await rig.firedAt(id)).toHaveLength(2);
    },
  );

  it('is claimed before a pause or not at all, whoever is first', async () => {
    const rig = await createRig();
    rig.start();
    const ids = await Promise.all(Array.from({ length: 20 }, () => rig.make('0 7 * * *')));
    await rig.pass(7 * HOUR - 1);
    rig.clock.advance(1);
    await Promise.all(ids.map((id) => act(rig, id, 'pause')));
    await quiet(rig.store, rig.clock);
    for (const id of ids) {
      const { state } = await rig.stored(id);
      expect(state).toMatchObject({ paused: { type: 'manual' }, next_due_at: null });
      expect(await rig.firedAt(id)).toHaveLength(state['last_slot'] === null ? 0 : 1);
    }
    await rig.pass(2 * DAY);
    for (const id of ids) expect((await rig.firedAt(id)).length).toBeLessThanOrEqual(1);
  });

  it('fires no more when it is archived or deleted', async () => {
    const rig = await createRig();
    rig.start();
    const archived = await rig.make('0 * * * *');
    const deleted = await rig.make('0 * * * *');
    const unscheduled = await rig.make('0 * * * *');
    await act(rig, archived, 'archive');
    await rig.call(`DELETE deployments/${deleted}`);
    await rig.call(`PATCH deployments/${unscheduled}`, { schedule: null });
    await rig.pass(3 * HOUR);
    for (const id of [archived, deleted, unscheduled]) expect(await rig.runsOf(id)).toEqual([]);
    expect(rig.warnings).toEqual([]);
  });

  it('repeats nothing when the clock is set back, and nothing piles up when it is set ahead', async () => {
    const rig = await createRig();
    rig.start();
    const id = await rig.make('0 * * * *');
    await rig.pass(3 * HOUR);
    await rig.step(-2 * HOUR);
    await rig.pass(2 * HOUR);
    expect(await rig.firedAt(id)).toHaveLength(3);
    await rig.pass(HOUR);
    expect((await rig.firedAt(id)).at(-1)).toBe('2026-11-21T04:00:00.000Z');
    await rig.step(10 * DAY);
    await rig.pass(HOUR);
    expect(await rig.firedAt(id)).toHaveLength(6);
  });

  const STEPS = [2 * HOUR, -2 * HOUR, 400 * DAY, -400 * DAY];

  it.each(STEPS)(
    verifies(
      'clock.jump.schedules',
      'fires no instant twice and goes on with the clock that stepped by %i ms and back',
    ),
    async (ms) => {
      const rig = await createRig();
      rig.start();
      const hourly = await rig.make('0 * * * *');
      const daily = await rig.make('30 12 * * *');
      await rig.pass(11 * HOUR + 20 * MINUTE);
      await rig.step(ms);
      await rig.pass(2 * HOUR);
      await rig.step(-ms);
      const back = rig.clock.now();
      const fired = new Map<string, Set<string>>();
      for (const id of [hourly, daily]) fired.set(id, new Set(await rig.firedAt(id)));
      await rig.pass(2 * DAY);
      for (const [id, expression] of [
        [hourly, '0 * * * *'],
        [daily, '30 12 * * *'],
      ] as const) {
        const all = await rig.firedAt(id);
        expect(new Set(all).size).toBe(all.length);
        const due = upcomingInstants({ expression, timezone: 'UTC' }, back, 60)
          .filter((at) => at <= rig.clock.now())
          .map((at) => new Date(at).toISOString());
        // All of them, but for those that the other clock had fired before.
        for (const at of due) expect(all).toContain(at);
        const since = all.filter((at) => !fired.get(id)!.has(at));
        expect(since).toEqual(due.filter((at) => !fired.get(id)!.has(at)));
      }
    },
  );

  it(
    verifies(
      'clock.jump.schedule-silence-told',
      'is named in the log, once, while it waits for instants that have run already',
    ),
    async () => {
      const rig = await createRig();
      rig.start();
      const id = await rig.make('0 12 * * *');
      const often = await rig.make('*/10 * * * *');
      await rig.pass(10 * HOUR + 30 * MINUTE);
      await rig.step(2 * HOUR);
      expect(await rig.firedAt(id)).toEqual([]);
      await rig.step(-2 * HOUR);
      rig.warnings.length = 0;
      await rig.step(80 * MINUTE);
      await rig.pass(12 * MINUTE);
      expect(await rig.firedAt(id)).toEqual(['2026-11-21T12:00:00.000Z']);
      await rig.step(-80 * MINUTE);
      await restart(rig);
      const silent = rig.warnings.filter(({ message }) => /silent/.test(String(message)));
      expect(silent).toContainEqual({
        message:
          'a Schedule is silent: its last run lies in the future, for the clock was set back',
        deployment: id,
        last: '2026-11-21T12:00:00.000Z',
        next: '2026-11-22T12:00:00.000Z',
      });
      expect(silent.filter(({ deployment: named }) => named === id)).toHaveLength(1);
      await rig.pass(30 * MINUTE);
      expect(new Set(await rig.firedAt(often)).size).toBe((await rig.firedAt(often)).length);
      const { body } = await rig.resources.call(`GET deployments/${id}`, {
        organization: rig.organization,
        platform: false,
      });
      expect(body['schedule']).toMatchObject({
        upcoming_runs_at: expect.arrayContaining(['2026-11-22T12:00:00.000Z']),
      });
    },
  );

  it('that cannot be claimed is named in the log', async () => {
    const rig = await createRig();
    rig.start();
    const id = await rig.make('0 7 * * *');
    const note = vi.spyOn(rig.repository, 'note');
    note.mockRejectedValueOnce(new Error('odd row'));
    await quiet(rig.store, rig.clock);
    rig.clock.advance(DAY);
    while (rig.warnings.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(rig.warnings).toEqual([
      {
        message: 'a Schedule that is due could not be claimed',
        deployment: id,
        reason: expect.stringContaining('odd row'),
      },
    ]);
  });

  it('wakes nobody while none is due', async () => {
    const rig = await createRig();
    for (let count = 0; count < 50; count++) await rig.make('0 7 * * *');
    let looks = 0;
    const { store, clock, repository } = rig;
    const list: typeof store.list = (options) => {
      if (options.prefix[0] === 'schedule-due') looks++;
      return store.list(options);
    };
    const other = createProcess({ store: { ...store, list }, clock, repository, worker: 'b' });
    onTestFinished(() => other.close());
    other.start();
    await quiet(store, clock);
    looks = 0;
    for (let minute = 0; minute < 60; minute++) {
      clock.advance(MINUTE);
      await quiet(store, clock);
    }
    expect(looks).toBeLessThanOrEqual(360);
  });
});

describe('over years', () => {
  it.each([
    ['30 2 * * 0', 'Europe/Berlin'],
    ['30 1,2 * * 0', 'America/New_York'],
    ['45 1 * * 0', 'Australia/Lord_Howe'],
    ['0 0 29 2,3 *', 'Asia/Kolkata'],
    ['59 23 31 * *', 'UTC'],
  ])(
    verifies('scheduler.dst', 'scheduler.one-run-per-slot', 'every instant of %s in %s fires once'),
    { timeout: 60_000 },
    async (expression, timezone) => {
      const rig = await createRig({ startAt: '2026-12-31T12:00:00Z' });
      rig.start();
      const id = await rig.make(expression, { timezone });
      const begun = rig.clock.now();
      await rig.pass(2 * 366 * DAY);
      const all = upcomingInstants({ expression, timezone }, begun, 500);
      const due = all.filter((at) => at <= rig.clock.now());
      expect(await rig.firedAt(id)).toEqual(due.map((at) => new Date(at).toISOString()));
      expect(rig.warnings).toEqual([]);
      expect(await rig.sessionsOf(id)).toHaveLength(due.length);
    },
  );

  const steps = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('pass'), ms: fc.nat(3 * DAY) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('sleep'), ms: fc.nat(200 * DAY) }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('step'), ms: fc.integer({ min: -DAY, max: DAY }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constantFrom('pause', 'unpause', 'restart'),
        ms: fc.constant(0),
      }),
    },
  );

  it(
    verifies(
      'scheduler.one-run-per-slot',
      'scheduler.missed-slots',
      'scheduler.pause-race',
      'whatever the clock does, an instant fires once and in its time',
    ),
    { timeout: 60_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom('0 */6 * * *', '30 2 * * *', '15 1 1,15 * *', '0 9 * * 1-5'),
          fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe'),
          fc.array(steps, { minLength: 3, maxLength: 12 }),
          async (expression, timezone, moves) => {
            const rig = await createRig({ startAt: '2027-03-20T00:00:00Z' });
            rig.start();
            const id = await rig.make(expression, { timezone });
            let process: { close(): Promise<void> } = rig;
            for (const { do: what, ms } of moves) {
              if (what === 'pass') await rig.pass(ms);
              else if (what === 'sleep') await rig.sleep(ms);
              else if (what === 'step') await rig.step(ms);
              else if (what === 'restart') process = await restart(rig);
              else await act(rig, id, what);
            }
            const runs = await rig.runsOf(id);
            const instants = runs.map(({ trigger }) =>
              trigger.type === 'schedule' ? trigger.scheduledAt : 0,
            );
            expect(instants).toHaveLength(new Set(instants).size);
            for (const [index, at] of instants.entries()) {
              const schedule = { expression, timezone };
              expect(upcomingInstants(schedule, at - 1, 1)).toEqual([at]);
              const late = Date.parse(runs[index]?.createdAt ?? '') - at;
              expect(late).toBeGreaterThanOrEqual(0);
              expect(late).toBeLessThanOrEqual(GRACE);
            }
            expect(runs.map(statusOf)).toEqual(runs.map(() => 'succeeded'));
            const sessions = await rig.sessionsOf(id);
            const made = sessions.map((one) => one.id);
            expect(new Set(made)).toEqual(new Set(runs.map(({ sessionId }) => sessionId)));
            expect(made).toHaveLength(runs.length);
            const stored = await rig.repository.get(deployment, id, rig);
            expect(stored.state['next_due_at'] === null).toBe(stored.state['paused'] !== null);
            await process.close();
          },
        ),
        { numRuns: 25 },
      );
    },
  );
});
