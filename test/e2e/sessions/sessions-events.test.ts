import { describe, expect, it, onTestFinished } from 'vitest';
import { parseKeepingDigits } from '../../../src/core/json/digits.ts';
import { createSseFramer } from '../../../src/core/sse/sse.ts';
import type { TurnRunner } from '../../../src/sessions/sessions.ts';
import { verifies } from '../../requirements.ts';
import { scripted } from '../../runtime/entry/scripted-runner.ts';
import { pagesOf, serveSessions } from '../../sessions/serve-sessions.ts';
import type { SessionServer } from '../../sessions/serve-sessions.ts';
import { idle, pending, say } from '../../sessions/support.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { eventually } from '../../support/gateway.ts';

interface Frame {
  event: string | undefined;
  id: string | undefined;
  data: any;
}

/** Opens a stream; its frames and comments gather as they come. */
async function open(
  { url }: Pick<SessionServer, 'url'>,
  id: string,
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
) {
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  const response = await fetch(`${url}/v1/sessions/${id}/events/stream${query}`, {
    headers: { authorization: 'Bearer org_1', accept: 'application/json', ...headers },
    signal: gone.signal,
  });
  const frames: Frame[] = [];
  const state = { text: '', isOver: false };
  const framer = createSseFramer();
  const done = (async () => {
    try {
      for await (const chunk of response.body ?? []) {
        state.text += Buffer.from(chunk).toString();
        for (const { event, data, raw } of framer.push(Buffer.from(chunk))) {
          if (data === undefined) continue;
          const id = /^id: (.+)$/m.exec(raw.toString())?.[1];
          expect(raw.toString().match(/^data: /gm)).toHaveLength(1);
          frames.push({ event, id, data: JSON.parse(data) });
        }
      }
    } catch {
      // Left by the test.
    }
    state.isOver = true;
  })();
  return { response, frames, state, done, leave: () => gone.abort() };
}

/** Asks for a tool with this input in every turn. */
const calling = (input: string): TurnRunner =>
  scripted(({ add }) =>
    add({ type: 'agent.tool_use', name: 'find', input: parseKeepingDigits(input) }),
  );

describe('events of a Session over HTTP', () => {
  it('have the digits of arguments, in the history and on streams', async () => {
    const input = '{"id":2512292042121000001,"n":[1.0,1e2,-0],"of":{"big":1e300}}';
    const server = await serveSessions({ runner: calling(input) });
    const { id } = (await server.create()).body;
    const stream = await open(server, id);
    await server.send(id, [say('hello')]);
    await eventually(() => stream.frames.some(({ event }) => event === 'session.status_idle'));
    const headers = { authorization: 'Bearer org_1' };
    const history = await fetch(`${server.url}/v1/sessions/${id}/events`, { headers });
    const texts = [await history.text(), stream.state.text];
    for (const text of texts) expect(text.split(`"input":${input}`)).toHaveLength(2);
    stream.leave();
  });

  it(
    verifies(
      'sessions.events.send',
      'sessions.events.envelope',
      'sessions.identity.public-id',
      'are appended and echoed with their ids, all of them or none',
    ),
    async () => {
      const server = await serveSessions({ runner: pending });
      const { create, send, call } = server;
      const { id } = (await create()).body;
      const system = { type: 'system.message', content: [{ type: 'text', text: 'be brief' }] };
      const parts = [
        { type: 'text', text: 'see' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' }, title: 'A' },
      ];
      const events = [{ type: 'user.message', content: parts }, system, { type: 'user.interrupt' }];
      const { status, body } = await send(id, events);
      expect(status).toBe(200);
      expect(body.data).toMatchObject(events);
      for (const event of body.data) {
        expect(event.id).toMatch(/^sevt_/);
        expect(event.processed_at).toMatch(/^\d{4}-\d\d-\d\dT.+Z$/);
      }
      expect(id).toMatch(/^sess_/);
      const bad = await send(id, [say('fine'), { type: 'user.message', content: [] }]);
      expect(bad.status).toBe(400);
      const history = (await call('GET', `/v1/sessions/${id}/events`)).body;
      expect(history.data.slice(0, 3)).toEqual(body.data);
      expect(history.data).toHaveLength(4);
    },
  );

  it(
    verifies(
      'sessions.events.send-validation',
      'are refused with the path of the fault, and nothing is appended',
    ),
    async () => {
      const { create, send, call } = await serveSessions({ runner: pending });
      const { id } = (await create()).body;
      const refused = async (events: unknown) => {
        const { status, body } = await send(id, events as []);
        expect([status, body.error.type]).toEqual([400, 'invalid_request']);
        return body.error.param;
      };
      const message = (...content: unknown[]) => ({ type: 'user.message', content });
      expect(await refused([])).toBe('events');
      expect(await refused('x')).toBe('events');
      expect(await refused([{ type: 'user.define_outcome' }])).toBe('events[0].type');
      expect(await refused([{ type: 'agent.message', content: [] }])).toBe('events[0].type');
      expect(await refused([say('x'), message({ type: 'video' })])).toBe(
        'events[1].content[0].type',
      );
      expect(await refused([message({ type: 'text' })])).toBe('events[0].content[0].text');
      expect(await refused([message({ type: 'image', source: { type: 'ftp' } })])).toBe(
        'events[0].content[0].source.type',
      );
      const unknown = 'sevt_00000000000000000000000000';
      expect(
        await refused([{ type: 'user.custom_tool_result', custom_tool_use_id: unknown }]),
      ).toBe('events[0].custom_tool_use_id');
      expect(
        await refused([{ type: 'user.tool_confirmation', tool_use_id: unknown, result: 'allow' }]),
      ).toBe('events[0].tool_use_id');
      const sent = (await send(id, [say('x')])).body.data[0];
      expect(await refused([{ type: 'user.tool_result', tool_use_id: sent.id }])).toBe(
        'events[0].tool_use_id',
      );
      const allowed = { type: 'user.tool_confirmation', tool_use_id: sent.id, result: 'allow' };
      expect(await refused([{ ...allowed, deny_message: 'no' }])).toBe('events[0].deny_message');
      expect((await call('GET', `/v1/sessions/${id}/events`)).body.data).toHaveLength(2);
      await call('POST', `/v1/sessions/${id}/archive`);
      const closed = await send(id, [say('x')]);
      expect([closed.status, closed.headers.get('x-should-retry')]).toEqual([409, 'false']);
    },
  );

  it(
    verifies(
      'sessions.events.list',
      'resource.pagination.envelope',
      'resource.query-and-time',
      'are read page by page in both orders, and filtered',
    ),
    async () => {
      const clock = createFakeClock();
      const server = await serveSessions({ runner: pending, clock });
      const { create, send } = server;
      const { id } = (await create()).body;
      for (let i = 0; i < 30; i++) {
        clock.advance(1_000);
        await send(id, [say(String(i)), { type: 'user.interrupt' }]);
      }
      const path = `/v1/sessions/${id}/events`;
      const pages = await pagesOf(server, path);
      expect(pages.map(({ length }) => length)).toEqual([20, 20, 20, 1]);
      const all = pages.flat();
      const read = async (query: string) => (await pagesOf(server, `${path}?${query}`)).flat();
      expect(await read('limit=1000')).toEqual(all);
      expect(await read('limit=5000')).toEqual(all);
      expect(await read('order=desc&limit=7')).toEqual(all.toReversed());
      const interrupts = all.filter(({ type }) => type === 'user.interrupt');
      expect(await read('types[]=user.interrupt&limit=15')).toEqual(interrupts);
      const both = ['user.interrupt', 'session.status_running'];
      const some = all.filter(({ type }) => both.includes(type));
      for (const query of [
        both.map((type) => `types%5B%5D=${type}`).join('&'),
        both.map((type) => `types=${type}`).join('&'),
        `types=${both.join(',')}`,
      ])
        expect(await read(query)).toEqual(some);
      const at = all[31].processed_at;
      const later = all.filter(({ processed_at: time }) => time > at);
      expect(await read(`created_at[gt]=${at}`)).toEqual(later);
      expect(await read(`created_at%5Blte%5D=${at}`)).toEqual(all.slice(0, -later.length));
      const { next_page: cursor } = (await server.call('GET', `${path}?limit=2`)).body;
      for (const query of [
        `order=desc&page=${cursor}`,
        `types=x&page=${cursor}`,
        'page=x',
        'limit=0',
      ])
        expect((await server.call('GET', `${path}?${query}`)).status).toBe(400);
      const other = (await create()).body.id;
      expect((await server.call('GET', `/v1/sessions/${other}/events?page=${cursor}`)).status).toBe(
        400,
      );
    },
  );

  it('are read to the end by pages when there are 10,000', async () => {
    const server = await serveSessions({ runner: pending });
    const { id } = (await server.create()).body;
    const batch = Array.from({ length: 100 }, (_, index) => say(`message ${index}`));
    for (let i = 0; i < 100; i++) await server.sessions.send('org_1', id, batch);
    const pages = await pagesOf(server, `/v1/sessions/${id}/events?limit=1000`);
    expect(pages).toHaveLength(11);
    expect(new Set(pages.flat().map((event) => event.id)).size).toBe(10_001);
  });
});

describe('the stream of a Session', () => {
  it(
    verifies(
      'sessions.stream.sse',
      'sessions.stream.frame',
      'tells each new event as it happens, named by its type, whatever the client accepts',
    ),
    async () => {
      const server = await serveSessions();
      const { id } = (await server.create({ initial_events: [say('before')] })).body;
      const isIdle = async () => (await server.sessions.get('org_1', id)).status === 'idle';
      await eventually(isIdle);
      const { response, frames, state } = await open(server, id);
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
      expect(state.text).not.toContain('data:');
      await server.send(id, [say('hello')]);
      await eventually(() => frames.at(-1)?.event === 'session.status_idle');
      const history = (await pagesOf(server, `/v1/sessions/${id}/events`)).flat();
      expect(frames.map(({ data }) => data)).toEqual(history.slice(-6));
      for (const { event, id, data } of frames) expect([event, id]).toEqual([data.type, data.id]);
    },
  );

  it(
    verifies('sessions.stream.last-event-id', 'goes on behind the event that was seen last'),
    async () => {
      const server = await serveSessions();
      const { id } = (await server.create({ initial_events: [say('a')] })).body;
      const first = await open(server, id, { headers: {} });
      await server.send(id, [say('b')]);
      await eventually(() => first.frames.length >= 2);
      first.leave();
      const last = first.frames.at(-1)?.id ?? '';
      await server.send(id, [say('c')]);
      const second = await open(server, id, { headers: { 'last-event-id': last } });
      await server.send(id, [say('d')]);
      await eventually(async () => {
        const history = (await pagesOf(server, `/v1/sessions/${id}/events`)).flat();
        const isDone = history.filter(({ type }) => type === 'agent.message').length === 4;
        return isDone && history.at(-1).type === 'session.status_idle';
      });
      const history = (await pagesOf(server, `/v1/sessions/${id}/events`)).flat();
      const rest = history.slice(history.findIndex((event) => event.id === last) + 1);
      await eventually(() => second.frames.length === rest.length);
      expect(second.frames.map(({ data }) => data)).toEqual(rest);
      const bad = await open(server, id, { headers: { 'last-event-id': 'sevt_none' } });
      expect(bad.response.status).toBe(400);
    },
  );

  it(
    verifies('sessions.stream.no-gap', 'has what a list made after it opened lacks, under load'),
    async () => {
      const server = await serveSessions();
      const { id } = (await server.create()).body;
      const sending = (async () => {
        for (let i = 0; i < 30; i++) await server.send(id, [say(String(i))]);
      })();
      await eventually(async () => (await server.sessions.get('org_1', id)).head > 10);
      const { frames } = await open(server, id);
      const listed = (await pagesOf(server, `/v1/sessions/${id}/events?limit=1000`)).flat();
      await sending;
      await eventually(() => frames.at(-1)?.event === 'session.status_idle');
      await eventually(async () => (await server.sessions.get('org_1', id)).status === 'idle');
      const history = (await pagesOf(server, `/v1/sessions/${id}/events?limit=1000`)).flat();
      await eventually(() => frames.at(-1)?.id === history.at(-1).id);
      const merged = new Map(
        [...listed, ...frames.map(({ data }) => data)].map((one) => [one.id, one]),
      );
      expect([...merged.values()]).toEqual(history);
      const ids = frames.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    },
  );

  it(
    verifies('sessions.stream.deltas', 'has parts for the connection alone that asks for them'),
    async () => {
      const runner: TurnRunner = {
        async run(log) {
          if (log.session.status !== 'running') return;
          const id = log.nextEventId();
          log.show({ type: 'event_start', event: { type: 'agent.message', id } });
          for (const text of ['Hel', 'lo']) {
            const delta = { type: 'content_delta', index: 0, content: { type: 'text', text } };
            log.show({ type: 'event_delta', event_id: id, delta });
          }
          const content = [{ type: 'text', text: 'Hello' }];
          await log.append([{ type: 'agent.message', id, content }, idle('end_turn')]);
        },
      };
      const server = await serveSessions({ runner });
      const { id } = (await server.create()).body;
      const asked = await open(server, id, { query: '?event_deltas%5B%5D=agent.message' });
      const plain = await open(server, id);
      await server.send(id, [say('x')]);
      for (const { frames } of [asked, plain])
        await eventually(() => frames.at(-1)?.event === 'session.status_idle');
      expect(plain.frames.map(({ event }) => event)).toEqual([
        'user.message',
        'session.status_running',
        'agent.message',
        'session.status_idle',
      ]);
      expect(asked.frames.map(({ event }) => event)).toEqual([
        'user.message',
        'session.status_running',
        'event_start',
        'event_delta',
        'event_delta',
        'agent.message',
        'session.status_idle',
      ]);
      const final = asked.frames[5]?.data;
      const deltas = asked.frames.slice(3, 5);
      expect(deltas.map(({ data }) => data.delta.content.text).join('')).toBe('Hello');
      for (const { data, id } of deltas) expect([data.event_id, id]).toEqual([final.id, undefined]);
      expect(asked.frames[2]?.data.event.id).toBe(final.id);
      const history = (await pagesOf(server, `/v1/sessions/${id}/events`)).flat();
      expect(history.map(({ type }) => type)).toEqual(plain.frames.map(({ event }) => event));
    },
  );

  it(
    verifies(
      'sessions.stream.lifetime',
      'stays open while nothing happens, and ends when the Session or the gateway does',
    ),
    async () => {
      const clock = createFakeClock();
      const runner: TurnRunner = {
        run: async (log) => {
          const { title, status } = log.session;
          if (status !== 'running') return;
          await log.append([], { status: title === 'fatal' ? 'terminated' : 'idle' });
        },
      };
      const server = await serveSessions({ runner, clock });
      const first = (await server.create({ title: 'fatal' })).body.id;
      const fatal = await open(server, first);
      const second = (await server.create()).body.id;
      const living = await open(server, second);
      await server.send(second, [say('x')]);
      await eventually(() => living.frames.length === 3);
      clock.advance(15_000);
      await eventually(() => living.state.text.includes(': keep-alive\n\n'));
      await server.send(second, [say('y')]);
      await eventually(() => living.frames.length === 6);
      await server.send(first, [say('x')]);
      await fatal.done;
      expect(fatal.frames.at(-1)?.event).toBe('session.status_terminated');
      expect(living.state.isOver).toBe(false);
      server.active.shutDown();
      await living.done;
      expect(living.state.text.endsWith('\n\n')).toBe(true);
      expect(server.active.size).toBe(0);
    },
  );

  it(verifies('sessions.stream.lifetime', 'says so when it fails'), async () => {
    const server = await serveSessions({ runner: pending });
    const { id } = (await server.create()).body;
    const { list } = server.store;
    server.store.list = () => Promise.reject(new Error('disk on fire'));
    const { frames, done } = await open(server, id);
    await done;
    server.store.list = list;
    expect(frames).toMatchObject([
      { event: 'error', data: { type: 'error', error: { type: 'internal_error' } } },
    ]);
  });

  it('lets go of a client that leaves', async () => {
    const server = await serveSessions({ runner: pending });
    const { id } = (await server.create()).body;
    const streams = await Promise.all(Array.from({ length: 20 }, () => open(server, id)));
    await eventually(() => server.active.size === 20);
    for (const { leave } of streams) leave();
    await eventually(() => server.active.size === 0);
  });
});
