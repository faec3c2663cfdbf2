import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.ts';
import type { NewEvent } from '../../src/sessions/log/session-event.ts';
import type { TurnLog, TurnRunner } from '../../src/sessions/sessions.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { CUT_OFF, NOT_BEGUN } from '../../src/sessions/open-ends.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { eventually } from '../support/gateway.ts';
import { codeOf, createFaultyStore, turns } from '../usage/usage-fixtures.ts';
import {
  createRig,
  echoRunner,
  historyOf,
  idle,
  newSession,
  ORG,
  say,
  settled,
  typesOf,
} from './support.ts';

/** A runner whose turns the test plays; each stays open until it is ended. */
function createStage() {
  const turnsBegun: { log: TurnLog; signal: AbortSignal; end: () => void }[] = [];
  const runner: TurnRunner = {
    run: (log, signal) =>
      new Promise((resolve, reject) => {
        turnsBegun.push({ log, signal, end: resolve });
        signal.addEventListener('abort', () => reject(new Error('left off')));
      }),
  };
  return { turnsBegun, runner };
}

const finish = (log: TurnLog, handled?: number) =>
  log.append([idle('end_turn')], { ...(handled !== undefined && { handled }) });

describe('a turn', () => {
  it(
    verifies(
      'sessions.turn.queue',
      'takes up every message that is sent while others run, one at a time and in order',
    ),
    async () => {
      const store = openMemoryStore(createRig().clock);
      let running = 0;
      let most = 0;
      const counting: TurnRunner = {
        async run(log, signal) {
          most = Math.max(most, ++running);
          await echoRunner.run(log, signal).finally(() => running--);
        },
      };
      const rigs = ['a', 'b'].map((worker) => createRig({ store, worker, runner: counting }));
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.record({ rig: fc.nat(1), pause: fc.nat(6) }), {
            minLength: 1,
            maxLength: 10,
          }),
          async (sends) => {
            const { sessions } = rigs[0] as (typeof rigs)[0];
            const { session } = await sessions.create(newSession());
            const waiting: Promise<unknown>[] = [];
            for (const { rig, pause } of sends) {
              await turns(pause);
              waiting.push(
                rigs[rig]?.sessions.send(ORG, session.id, [say('x')]) as Promise<unknown>,
              );
            }
            await Promise.all(waiting);
            const answered = async () => {
              const history = await historyOf(sessions, session.id);
              const answers = history.filter(({ event }) => event.type === 'agent.message');
              return answers.length === sends.length && history;
            };
            const history = await eventually(answered);
            const sent = history.filter(({ event }) => event.type === 'user.message');
            const answers = history.filter(({ event }) => event.type === 'agent.message');
            expect(answers.map(({ event }) => event['to'])).toEqual(
              sent.map(({ event }) => event.id),
            );
            await eventually(() => settled(sessions, session.id));
            await eventually(async () => (await store.list({ prefix: ['job'] })).length === 0);
          },
        ),
        { numRuns: 25 },
      );
      expect(most).toBeLessThanOrEqual(2);
    },
  );

  it('is never left undone when a message arrives just as the last turn ends', async () => {
    const clock = createFakeClock();
    const store = createFaultyStore(openMemoryStore(clock));
    const { sessions } = createRig({ clock, store });
    const { session } = await sessions.create(newSession({ events: [say('one')] }));
    let isSent = false;
    store.interfere = async () => {
      const last = store.takeCommits().at(-1) ?? [];
      const isRemoval = last.some(({ type, key }) => type === 'delete' && key[0] === 'job');
      if (!isRemoval || isSent) return;
      isSent = true;
      await sessions.send(ORG, session.id, [say('two')]);
    };
    const answers = async () =>
      typesOf(await historyOf(sessions, session.id)).filter((type) => type === 'agent.message');
    for (let i = 0; i < 100; i++) await turns();
    expect(isSent).toBe(true);
    expect(await answers()).toHaveLength(2);
  });

  it('cannot write once another has taken over', async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    const first = createFaultyStore(store);
    const begun: { log: TurnLog; end: () => void }[] = [];
    /** Does not listen to its signal. */
    const deaf: TurnRunner = { run: (log) => new Promise((end) => void begun.push({ log, end })) };
    const { sessions } = createRig({ clock, store: first, worker: 'a', runner: deaf });
    const { session } = await sessions.create(newSession({ events: [say('go')] }));
    await turns();
    const [lost] = begun;
    await lost?.log.append([{ type: 'span.model_request_start' }]);
    first.fail('before');
    const second = createStage();
    createRig({ clock, store, worker: 'b', runner: second.runner });
    for (let i = 0; i < 31; i++) {
      clock.advance(1_000);
      await turns();
    }
    first.fail(undefined);
    const [heir] = second.turnsBegun;
    expect(heir?.log.session.status).toBe('running');
    expect(await codeOf(lost?.log.append([idle('end_turn')]))).toBe('conflict');
    lost?.end();
    await finish(heir?.log as TurnLog, 1);
    heir?.end();
    await turns();
    expect(typesOf(await historyOf(sessions, session.id))).toEqual([
      'user.message',
      'session.status_running',
      'span.model_request_start',
      'session.status_idle',
    ]);
  });

  it('learns of input at once, also of what came before it listened', async () => {
    const { turnsBegun, runner } = createStage();
    const { sessions } = createRig({ runner });
    const { session } = await sessions.create(newSession({ events: [say('go')] }));
    const turn = await eventually(() => turnsBegun[0]);
    let heard = 0;
    const forget = turn.log.onInput(() => heard++);
    await sessions.send(ORG, session.id, [{ type: 'user.interrupt' }]);
    await eventually(() => heard === 1);
    turn.log.onInput(() => (heard += 10));
    await eventually(() => heard === 11);
    forget();
    await sessions.send(ORG, session.id, [say('more')]);
    await eventually(() => heard === 21);
    expect(turn.log.session.head).toBe(4);
  });

  it(
    verifies(
      'sessions.turn.crash-recovery',
      'comes to its end, and nothing is lost or doubled, whatever the store fails to take',
    ),
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.constantFrom('before', 'after', undefined, undefined, undefined), {
            minLength: 5,
            maxLength: 60,
          }),
          fc.integer({ min: 1, max: 4 }),
          async (faults, count) => {
            const clock = createFakeClock();
            const store = createFaultyStore(openMemoryStore(clock));
            const { sessions, jobs } = createRig({ clock, store });
            const { session } = await sessions.create(newSession());
            let commits = 0;
            store.interfere = () => store.fail(faults[commits++]);
            const acknowledged: string[] = [];
            for (let i = 0; i < count; i++) {
              const sent = sessions.send(ORG, session.id, [say(String(i))]);
              await sent.then(
                ([event]) => acknowledged.push(event?.id ?? ''),
                () => undefined,
              );
              await turns();
            }
            for (let i = 0; i < 400; i++) {
              clock.advance(1_000);
              await turns(3);
            }
            const history = await historyOf(sessions, session.id);
            expect(history.map(({ seq }) => seq)).toEqual(history.map((_, index) => index + 1));
            const messages = history.filter(({ event }) => event.type === 'user.message');
            const ids = messages.map(({ event }) => event.id);
            expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
            const answers = history.filter(({ event }) => event.type === 'agent.message');
            expect(answers.map(({ event }) => event['to'])).toEqual(ids);
            expect((await sessions.get(ORG, session.id)).status).toBe('idle');
            expect(await store.list({ prefix: ['job'] })).toEqual([]);
            await jobs.close();
          },
        ),
        { numRuns: 30 },
      );
    },
    60_000,
  );

  it('is stopped when its Session is deleted', async () => {
    const { turnsBegun, runner } = createStage();
    const { sessions, store } = createRig({ runner });
    const { session } = await sessions.create(newSession({ events: [say('go')] }));
    const turn = await eventually(() => turnsBegun[0]);
    await sessions.remove(ORG, session.id);
    await eventually(() => turn.signal.aborted);
    expect(await codeOf(turn.log.append([idle('end_turn')]))).toBe('conflict');
    await eventually(
      async () => (await store.list({ prefix: ['job', 'session-turn'] })).length === 0,
    );
  });

  it('that fails is tried again, and given up in the end, and the next message has its own', async () => {
    const clock = createFakeClock();
    let goes = 0;
    const runner: TurnRunner = {
      async run(log, signal) {
        goes++;
        if (goes <= 5) throw new Error('no');
        await echoRunner.run(log, signal);
      },
    };
    const { sessions } = createRig({ clock, runner });
    const { session } = await sessions.create(newSession({ events: [say('go')] }));
    for (let i = 0; i < 60; i++) {
      clock.advance(1_000);
      await turns();
    }
    expect(goes).toBeGreaterThanOrEqual(5);
    const history = await historyOf(sessions, session.id);
    const errors = history.filter(({ event }) => event.type === 'session.error');
    expect(errors.map(({ event }) => event['error'])).toMatchObject([
      { retry_status: { type: 'retrying' } },
      { retry_status: { type: 'retrying' } },
      { retry_status: { type: 'retrying' } },
      { retry_status: { type: 'retrying' } },
      { retry_status: { type: 'retrying' } },
      { retry_status: { type: 'exhausted' } },
    ]);
    expect(
      history.some(({ event }) =>
        JSON.stringify(event['stop_reason'] ?? '').includes('retries_exhausted'),
      ),
    ).toBe(true);
    await sessions.send(ORG, session.id, [say('again')]);
    for (let i = 0; i < 20; i++) await turns();
    expect(typesOf(await historyOf(sessions, session.id))).toContain('agent.message');
    expect(await settled(sessions, session.id)).toBe(true);
  });

  it('that is given up leaves neither a model request nor a call of a tool open', async () => {
    const clock = createFakeClock();
    let made: string[] = [];
    const runner: TurnRunner = {
      async run(log) {
        if (log.session.status === 'idle') return;
        if (made.length === 0) {
          const placed = await log.append([
            { type: 'span.model_request_start' },
            { type: 'agent.mcp_tool_use', mcp_server_name: 'shop', name: 'order', input: {} },
            { type: 'agent.mcp_tool_use', mcp_server_name: 'shop', name: 'search', input: {} },
            { type: 'agent.tool_use', name: 'bash', input: {} },
            { type: 'agent.tool_use', name: 'rm', input: {}, evaluated_permission: 'ask' },
          ]);
          made = placed.map(({ event }) => event.id);
          await log.append([{ type: 'agent.mcp_tool_result', mcp_tool_use_id: made[2] }]);
        }
        throw new Error('no');
      },
    };
    const { sessions } = createRig({ clock, runner });
    const { session } = await sessions.create(newSession({ events: [say('go')] }));
    for (let i = 0; i < 60; i++) {
      clock.advance(1_000);
      await turns();
    }
    const last = (await historyOf(sessions, session.id)).slice(-7).map(({ event }) => event);
    const [cutOff, notBegun] = [CUT_OFF, NOT_BEGUN].map((text) => ({
      is_error: true,
      content: [{ text }],
    }));
    expect(last).toMatchObject([
      { type: 'span.model_request_end', model_request_start_id: made[0], is_error: true },
      { type: 'agent.mcp_tool_result', mcp_tool_use_id: made[1], ...cutOff },
      { type: 'agent.tool_result', tool_use_id: made[3], ...cutOff },
      { type: 'agent.tool_result', tool_use_id: made[4], ...notBegun },
      { type: 'session.error', error: { retry_status: { type: 'exhausted' } } },
      { type: 'session.status_running' },
      { type: 'session.status_idle', stop_reason: { type: 'retries_exhausted' } },
    ]);
  });

  it('is not given up for goes that failed at turns before it', async () => {
    const clock = createFakeClock();
    /** Fails as soon as a turn has come to its end. */
    const runner: TurnRunner = {
      async run(log) {
        const { status } = log.session;
        if (status === 'idle') return;
        if (status === 'rescheduling') await log.append([], { status: 'running' });
        await log.append([{ type: 'agent.message', content: [] }, idle('end_turn')]);
        throw new Error('no');
      },
    };
    const { sessions } = createRig({ clock, runner });
    const events = Array.from({ length: 9 }, (_, index) => say(String(index)));
    const { session } = await sessions.create(newSession({ events }));
    for (let i = 0; i < 60; i++) {
      clock.advance(1_000);
      await turns();
    }
    const types = typesOf(await historyOf(sessions, session.id));
    expect(types.filter((type) => type === 'agent.message')).toHaveLength(9);
    expect(await settled(sessions, session.id)).toBe(true);
  });

  it('that ends with messages left begins the next in the same commit', async () => {
    const { turnsBegun, runner } = createStage();
    const { sessions } = createRig({ runner });
    const { session } = await sessions.create(newSession({ events: [say('one')] }));
    const { log } = await eventually(() => turnsBegun[0]);
    await sessions.send(ORG, session.id, [say('two')]);
    const status = async () => (await sessions.get(ORG, session.id)).status;
    const waiting = idle('requires_action', { event_ids: ['sevt_none'] });
    await log.append([waiting]);
    expect(await status()).toBe('idle');
    await log.append([{ type: 'session.status_running' }, idle('end_turn')]);
    expect(await status()).toBe('running');
    await finish(log);
    expect(await status()).toBe('idle');
    const history = await historyOf(sessions, session.id);
    expect(typesOf(history).map((type) => type.replace('session.status_', ''))).toEqual([
      'user.message',
      'running',
      'user.message',
      'idle',
      'running',
      'idle',
      'running',
      'idle',
    ]);
  });

  it('that waits for its client within a go takes no room from others', async () => {
    const { turnsBegun, runner } = createStage();
    const { sessions } = createRig({ runner, concurrency: 1 });
    const first = await sessions.create(newSession({ events: [say('one')] }));
    const { log, end } = await eventually(() => turnsBegun[0]);
    const second = await sessions.create(newSession({ events: [say('two')] }));
    expect(turnsBegun).toHaveLength(1);
    await log.append([idle('requires_action', { event_ids: ['sevt_none'] })]);
    const other = await eventually(() => turnsBegun[1]);
    expect(other.log.session.id).toBe(second.session.id);
    await log.append([{ type: 'session.status_running' }, idle('end_turn')]);
    end();
    await finish(other.log, 1);
    other.end();
    await eventually(() => settled(sessions, second.session.id));
    expect(await settled(sessions, first.session.id)).toBe(true);
  });

  it('that always fails is ended for every message, and for a client that is waited for', async () => {
    const clock = createFakeClock();
    let isPaused = false;
    const runner: TurnRunner = {
      async run(log) {
        if (isPaused) throw new Error('no');
        isPaused = true;
        await log.append([idle('requires_action', { event_ids: ['sevt_none'] })]);
      },
    };
    const { sessions, store } = createRig({ clock, runner });
    const first = newSession({ events: [say('one'), say('two')] });
    const { session } = await sessions.create(first);
    await turns();
    await sessions.send(ORG, session.id, [{ type: 'user.interrupt' }]);
    for (let i = 0; i < 120; i++) {
      clock.advance(1_000);
      await turns();
    }
    const history = await historyOf(sessions, session.id);
    const reasons = history.flatMap(({ event }) => (event['stop_reason'] as object) ?? []);
    expect(reasons).toEqual([
      { type: 'requires_action', event_ids: ['sevt_none'] },
      { type: 'retries_exhausted' },
      { type: 'retries_exhausted' },
    ]);
    expect(await settled(sessions, session.id)).toBe(true);
    expect(await store.list({ prefix: ['job'] })).toEqual([]);
  });

  it('that leaves its Session running is not done', async () => {
    const reported: unknown[] = [];
    const runner: TurnRunner = { run: async () => undefined };
    const { sessions } = createRig({ runner, report: (error) => void reported.push(error) });
    const { session } = await sessions.create(newSession({ events: [say('go')] }));
    await eventually(async () => (await sessions.get(ORG, session.id)).status === 'rescheduling');
    await eventually(() => reported.length === 1);
    expect(String(reported[0])).toContain('before its end');
  });

  it('leaves what it refuses out of the log', async () => {
    const { turnsBegun, runner } = createStage();
    const { sessions } = createRig({ runner });
    const { session } = await sessions.create(newSession({ events: [say('go')] }));
    const { log } = await eventually(() => turnsBegun[0]);
    const events: NewEvent[] = [
      { type: 'agent.message', content: [] },
      idle('end_turn'),
      { type: 'session.status_rescheduled' },
    ];
    await expect(log.append(events)).rejects.toBeInstanceOf(GatewayError);
    expect(await historyOf(sessions, session.id)).toHaveLength(2);
  });
});
