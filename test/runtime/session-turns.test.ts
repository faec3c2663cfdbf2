import { describe, expect, it, vi } from 'vitest';
import type { EventDelta, PlacedEvent } from '../../src/sessions/log/session-event.ts';
import {
  createRig,
  follow,
  historyOf,
  newSession,
  ORG,
  say,
  settled,
  typesOf,
} from '../sessions/support.ts';
import { agentWithTools, fakeAgent } from './fake-agent.ts';
import { fakeServers } from './fake-servers.ts';
import { checkLog } from './log-laws.ts';
import { loopBench } from './loop-bench.ts';
import type { BenchOptions } from './loop-bench.ts';

/** Sessions whose turns the model loop runs, on the mock provider. */
async function open(options: BenchOptions, policy?: 'always_ask') {
  const bench = loopBench(options);
  const { sessions } = createRig({ runner: bench.loop });
  const agent = fakeAgent(agentWithTools(policy));
  const { session } = await sessions.create(newSession({ agent }));
  const { id } = session;
  const history = () => historyOf(sessions, id);
  return {
    bench,
    send: (...events: object[]) => sessions.send(ORG, id, events),
    watch: () => follow(sessions, id, { deltas: ['agent.message', 'agent.thinking'] }),
    /** Waits until nothing runs; the events so far. */
    async rest(): Promise<PlacedEvent[]> {
      await vi.waitFor(async () => expect(await settled(sessions, id)).toBe(true), 10_000);
      return history();
    },
    until: (type: string) =>
      vi.waitFor(async () => {
        const found = (await history()).findLast(({ event }) => event.type === type);
        if (!found) throw new Error(`no ${type} yet`);
        return found.event;
      }, 10_000),
  };
}

const call = (name: string) => ({ name, arguments: {} });

describe('the model loop on the log of a Session', () => {
  it('runs a turn as followers see it, with the parts of its answer', async () => {
    const { send, rest, watch } = await open({ rules: [{ reply: { text: 'a b', chunks: 2 } }] });
    const { seen } = await watch();
    await send(say('hello'));
    const events = await rest();
    expect(typesOf(events)).toEqual([
      'user.message',
      'session.status_running',
      'span.model_request_start',
      'agent.message',
      'span.model_request_end',
      'session.status_idle',
    ]);
    const isDelta = (item: PlacedEvent | EventDelta): item is EventDelta => 'type' in item;
    await vi.waitFor(() => expect(seen.filter((item) => !isDelta(item))).toEqual(events));
    expect(seen.filter(isDelta)[0]).toMatchObject({
      type: 'event_start',
      event: { id: events[3]?.event.id },
    });
  });

  it('goes through custom tools, confirmations and tools of servers', async () => {
    const servers = fakeServers();
    const tool_calls = [call('look_up'), call('shop__order')];
    const rules = [{ match: { turn: 1 }, reply: { tool_calls } }];
    const { send, rest, bench } = await open({ servers, rules }, 'always_ask');
    await send(say('hello'));
    const events = await rest();
    const [custom, order] = events.filter(({ event }) => event.type.endsWith('tool_use'));
    await send({ type: 'user.custom_tool_result', custom_tool_use_id: custom?.event.id });
    expect((await rest()).at(-1)?.event['stop_reason']).toEqual({
      type: 'requires_action',
      event_ids: [order?.event.id],
    });
    expect(servers.calls).toEqual([]);
    await send({ type: 'user.tool_confirmation', tool_use_id: order?.event.id, result: 'allow' });
    const all = await rest();
    checkLog(all);
    expect(servers.calls).toEqual(['order {}']);
    expect(all.at(-1)?.event['stop_reason']).toEqual({ type: 'end_turn' });
    expect(bench.engine.calls()).toHaveLength(2);
  });

  it('is cut by an interrupt, and goes on with what was sent meanwhile', async () => {
    const rules = [{ match: { times: 1 }, reply: { text: 'a b', chunk_delay_ms: 60_000 } }];
    const { send, rest, until, bench } = await open({ rules });
    await send(say('one'));
    await vi.waitFor(() => expect(bench.engine.calls()).toHaveLength(1));
    // The start is put off until the model has taken some time.
    bench.clock.advance(25);
    await until('span.model_request_start');
    const interrupted = performance.now();
    await send({ type: 'user.interrupt' }, say('two'));
    await vi.waitFor(() => expect(bench.engine.calls()[0]?.outcome).toBe('aborted'));
    expect(performance.now() - interrupted).toBeLessThan(1000);
    await until('agent.message');
    const events = await rest();
    checkLog(events);
    expect(typesOf(events).filter((type) => type === 'session.status_idle')).toHaveLength(2);
  });

  it('answers every message that is sent at once, in order', async () => {
    const { send, rest } = await open({});
    await send(say('one'), say('two'));
    await send(say('three'));
    const events = await vi.waitFor(async () => {
      const found = await rest();
      expect(typesOf(found).filter((type) => type === 'agent.message')).toHaveLength(3);
      return found;
    }, 10_000);
    checkLog(events);
    const said = events.filter(({ event }) => event.type === 'agent.message');
    expect(said.map(({ event }) => event['content'])).toEqual(
      ['one', 'two', 'three'].map((text) => [{ type: 'text', text: `You said: ${text}` }]),
    );
  });
});
