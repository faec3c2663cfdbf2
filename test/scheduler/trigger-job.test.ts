import { describe, expect, it, onTestFinished } from 'vitest';
import { GatewayError } from '../../src/core/errors.ts';
import type { ErrorCode } from '../../src/core/errors.ts';
import { DUE_PREFIX } from '../../src/resources/store/due-index.ts';
import { toRunError } from '../../src/scheduler/run-error.ts';
import { statusOf, toRunView } from '../../src/scheduler/run-row.ts';
import type { RunRow } from '../../src/scheduler/run-row.ts';
import { StoreError } from '../../src/store/store.ts';
import type { Op, Store } from '../../src/store/store.ts';
import { verifies } from '../requirements.ts';
import { eventually } from '../support/gateway.ts';
import { createProcess, createRig, quiet } from './support.ts';
import type { Rig } from './support.ts';

const MINUTE = 60_000;

async function onlyRun(rig: Rig, id: string): Promise<RunRow> {
  const [run, ...others] = await rig.runsOf(id);
  expect(others).toEqual([]);
  if (!run) throw new Error('no run');
  return run;
}

const isBegun = async (rig: Rig, id: string) => (await rig.runsOf(id)).length > 0;

/** A process on the rig's store that fires and decides. */
function join(rig: Rig, options: Partial<Parameters<typeof createProcess>[0]> = {}) {
  const { store, clock, repository } = rig;
  const process = createProcess({ store, clock, repository, worker: 'b', ...options });
  onTestFinished(() => process.close());
  return process;
}

describe('a run', () => {
  it(
    verifies(
      'deployments.trigger.manual',
      'deployments.trigger.one-session',
      'runs.session-xor-error',
    ),
    async () => {
      const rig = await createRig();
      rig.start();
      const id = await rig.make();
      const run = await rig.trigger(id);
      expect(statusOf(run)).toBe('succeeded');
      expect(run).toMatchObject({
        trigger: { type: 'manual' },
        payer: { keyId: 'key_1' },
        error: null,
      });
      expect((await rig.sessionsOf(id)).map((one) => one.id)).toEqual([run.sessionId]);
      expect(await rig.runsOf(id)).toEqual([run]);
      expect(toRunView(run)).toEqual({
        id: run.id,
        type: 'deployment_run',
        deployment_id: id,
        agent: { type: 'agent', id: rig.agent, version: 1 },
        trigger_context: { type: 'manual' },
        session_id: run.sessionId,
        error: null,
        created_at: '2026-11-21T00:00:00.000Z',
      });
      const { state } = await rig.stored(id);
      expect(state['last_run_at']).toBeNull();
    },
  );

  it(
    verifies('deployments.trigger.status', 'is told pending after ten seconds, and decided later'),
    async () => {
      const rig = await createRig();
      const id = await rig.make();
      let run: RunRow | undefined;
      const asked = rig.clock.now();
      void rig.trigger(id).then((answer) => (run = answer));
      await eventually(() => isBegun(rig, id));
      await expect(rig.call(`DELETE deployments/${id}`)).rejects.toThrow('not decided yet');
      await eventually(() => {
        rig.clock.advance(1_000);
        return run;
      });
      if (!run) throw new Error('no answer');
      expect(rig.clock.now() - asked).toBeGreaterThanOrEqual(10_000);
      expect(statusOf(run)).toBe('pending');
      expect(toRunView(run)).toMatchObject({ session_id: null, error: null });
      rig.start();
      await quiet(rig.store, rig.clock);
      expect(statusOf(await onlyRun(rig, id))).toBe('succeeded');
      await rig.call(`DELETE deployments/${id}`);
    },
  );

  it('is made by hand while its Schedule is paused, but not when that is archived', async () => {
    const rig = await createRig();
    rig.start();
    const id = await rig.make('0 7 * * *');
    await rig.call(`POST deployments/${id}/pause`);
    expect(statusOf(await rig.trigger(id))).toBe('succeeded');
    await rig.call(`POST deployments/${id}/archive`);
    await expect(rig.trigger(id)).rejects.toMatchObject({ code: 'conflict', retry: false });
    await expect(rig.trigger('depl_none')).rejects.toMatchObject({ code: 'not_found' });
    expect(await rig.runsOf(id)).toHaveLength(1);
  });

  it(
    verifies('scheduler.one-run-per-slot', 'that a dead process claimed is decided by another'),
    async () => {
      const rig = await createRig();
      const id = await rig.make('0 7 * * *');
      rig.clock.advance(7 * 60 * MINUTE);
      // Claims, and is gone before it has done anything else.
      rig.scheduler.start();
      await eventually(() => isBegun(rig, id));
      await rig.scheduler.close();
      expect(statusOf(await onlyRun(rig, id))).toBe('pending');
      expect(await rig.sessionsOf(id)).toEqual([]);
      join(rig).start();
      await quiet(rig.store, rig.clock);
      const run = await onlyRun(rig, id);
      expect(statusOf(run)).toBe('succeeded');
      expect(await rig.sessionsOf(id)).toHaveLength(1);
    },
  );

  it('has one Session, however many take themselves for the one that decides it', async () => {
    const rig = await createRig();
    const id = await rig.make();
    rig.clock.advance(1);
    void rig.trigger(id);
    await eventually(() => isBegun(rig, id));
    const [job] = await rig.store.list<{ at: number }>({ prefix: ['job', 'schedule-trigger'] });
    const run = { job: { kind: 'schedule-trigger', id: String(job?.key[2]), payload: null } };
    const signal = new AbortController().signal;
    const go = () => rig.decide({ ...run, attempt: 1, failures: 0, signal });
    expect(await Promise.all([go(), go(), go()])).toEqual(['done', 'done', 'done']);
    expect(await rig.sessionsOf(id)).toHaveLength(1);
    const { sessionId } = await onlyRun(rig, id);
    expect(await go()).toBe('done');
    expect((await rig.sessionsOf(id)).map((one) => one.id)).toEqual([sessionId]);
  });
});

describe('a run that fails', () => {
  it(
    verifies(
      'deployments.trigger.auto-pause',
      'runs.field-values',
      'pauses its Schedule when its Agent is archived',
    ),
    async () => {
      const rig = await createRig();
      rig.start();
      const id = await rig.make('*/10 * * * *');
      await rig.pass(10 * MINUTE);
      await rig.call(`POST agents/${rig.agent}/archive`);
      await rig.pass(60 * MINUTE);
      const [, run, ...others] = await rig.runsOf(id);
      expect(others).toEqual([]);
      expect(run).toMatchObject({ sessionId: null, error: { type: 'agent_archived_error' } });
      const shown = await rig.call(`GET deployments/${id}`);
      expect(shown).toMatchObject({
        status: 'paused',
        paused_reason: { type: 'error', error: { type: 'agent_archived_error' } },
      });
      expect(await rig.store.list({ prefix: DUE_PREFIX })).toEqual([]);
      expect(await rig.sessionsOf(id)).toHaveLength(1);
    },
  );

  it('by hand pauses nothing', async () => {
    const rig = await createRig();
    rig.start();
    const id = await rig.make('0 7 * * *');
    await rig.call(`POST agents/${rig.agent}/archive`);
    expect(await rig.trigger(id)).toMatchObject({ error: { type: 'agent_archived_error' } });
    expect(await rig.call(`GET deployments/${id}`)).toMatchObject({ status: 'active' });
  });

  it('leaves a pause alone that somebody made meanwhile', async () => {
    const rig = await createRig();
    const id = await rig.make('0 7 * * *');
    await rig.call(`POST agents/${rig.agent}/archive`);
    rig.clock.advance(7 * 60 * MINUTE);
    rig.scheduler.start();
    await eventually(() => isBegun(rig, id));
    await rig.call(`POST deployments/${id}/pause`);
    rig.start();
    await quiet(rig.store, rig.clock);
    expect(await onlyRun(rig, id)).toMatchObject({ error: { type: 'agent_archived_error' } });
    expect((await rig.stored(id)).state['paused']).toEqual({ type: 'manual' });
  });

  it(
    verifies('deployments.trigger.auto-pause', 'pauses it when the organization is disabled'),
    async () => {
      const admit = async () => {
        throw new GatewayError('organization_disabled');
      };
      const rig = await createRig({ admit });
      rig.start();
      const id = await rig.make('0 7 * * *');
      await rig.pass(8 * 60 * MINUTE);
      expect((await onlyRun(rig, id)).error?.type).toBe('organization_disabled_error');
      expect((await rig.stored(id)).state['paused']).toMatchObject({ type: 'error' });
    },
  );

  it(
    verifies('deployments.trigger.auto-pause', 'does not for a limit, which it waits out first'),
    async () => {
      let refusals = 0;
      const admit = async () => {
        refusals++;
        throw new GatewayError('global_rate_limited');
      };
      const rig = await createRig({ admit });
      rig.start();
      const id = await rig.make('0 * * * *');
      await rig.pass(61 * MINUTE);
      expect((await onlyRun(rig, id)).error?.type).toBe('session_rate_limited_error');
      expect(refusals).toBe(5);
      expect(await rig.call(`GET deployments/${id}`)).toMatchObject({ status: 'active' });
      await rig.pass(60 * MINUTE);
      expect(await rig.runsOf(id)).toHaveLength(2);
    },
  );

  it('is tried again while the store fails, and given up in the end', async () => {
    let failing = 2;
    const rig = await createRig({});
    const commit: Store['commit'] = (ops: readonly Op[]) => {
      const isSession = ops.some(({ key }) => key[0] === 'session');
      if (!isSession || failing-- <= 0) return rig.store.commit(ops);
      return Promise.reject(new StoreError('unavailable', 'away'));
    };
    const process = join(rig, { store: { ...rig.store, commit } });
    process.start();
    const id = await rig.make('0 * * * *');
    await rig.pass(61 * MINUTE);
    expect(statusOf(await onlyRun(rig, id))).toBe('succeeded');
    failing = Infinity;
    await rig.pass(60 * MINUTE);
    const [, given] = await rig.runsOf(id);
    expect(given?.error?.type).toBe('unknown_error');
    expect(await rig.call(`GET deployments/${id}`)).toMatchObject({ status: 'active' });
    expect(await rig.sessionsOf(id)).toHaveLength(1);
  });

  it.each<[ErrorCode, object, string | undefined]>([
    ['conflict', { type: 'agent_archived' }, 'agent_archived_error'],
    ['organization_disabled', {}, 'organization_disabled_error'],
    ['invalid_api_key', {}, 'organization_disabled_error'],
    ['not_found', {}, 'session_resource_not_found_error'],
    ['not_found', { param: 'skills[0].skill_id' }, 'skill_not_found_error'],
    ['conflict', { type: 'skill_archived' }, 'skill_not_found_error'],
    ['not_found', { param: 'initial_events[0].content[1].source.file_id' }, 'file_not_found_error'],
    ['global_rate_limited', {}, 'session_rate_limited_error'],
    ['organization_spending_limit', {}, 'session_rate_limited_error'],
    ['unprocessable', {}, 'session_creation_rejected_error'],
    ['invalid_request', {}, 'session_creation_rejected_error'],
    ['store_unavailable', {}, undefined],
    ['internal_error', {}, undefined],
  ])(verifies('runs.field-values', 'because of %s %j says %s'), (code, options, type) => {
    expect(toRunError(new GatewayError(code, options))?.type).toBe(type);
  });

  it('because of a bug says nothing yet', () => {
    expect(toRunError(new TypeError('oops'))).toBeUndefined();
  });
});

describe('what a run is made of', () => {
  it(
    verifies('deployments.agent-config', 'is the Agent that is bound, with what is in its place'),
    async () => {
      const rig = await createRig();
      rig.start();
      const id = await rig.make(undefined, { agent_config: { system: 'be brief' } });
      await rig.call(`PATCH agents/${rig.agent}`, { system: 'be verbose' });
      await rig.trigger(id);
      const [session] = await rig.sessionsOf(id);
      expect(session?.agent).toMatchObject({ id: rig.agent, version: 1, system: 'be brief' });
    },
  );

  it('is the runtime of a declarative Schedule', async () => {
    const rig = await createRig();
    rig.start();
    const runtime = { type: 'agent', model: 'acme/fast', system: 'inline' };
    const id = await rig.make(undefined, { agent_id: null, runtime });
    const run = await rig.trigger(id);
    expect(run.agent).toBeNull();
    const [session] = await rig.sessionsOf(id);
    expect(session?.agent).toMatchObject({ id: null, name: 'report', system: 'inline' });
  });

  it('is announced in the commit that decides it', async () => {
    const announced: RunRow[] = [];
    const rig = await createRig({
      announce(run) {
        announced.push(run);
        return [{ type: 'put', key: ['announced', run.id], value: null, ifAbsent: true }];
      },
    });
    rig.start();
    const id = await rig.make();
    const first = await rig.trigger(id);
    await rig.call(`POST agents/${rig.agent}/archive`);
    const second = await rig.trigger(id);
    expect(announced).toEqual([first, second]);
    expect(await rig.store.list({ prefix: ['announced'] })).toHaveLength(2);
  });
});
