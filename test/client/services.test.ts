import { describe, expect, it, vi } from 'vitest';
import type { FollowOptions, ServiceRun } from '../../src/client/services.ts';
import { verifies } from '../requirements.ts';
import { connect, failed, streamOf, testCalls } from './support.ts';
import type { Answer } from './support.ts';

const MESSAGE = { id: 'evt_2', type: 'user.message' };
const RUN: ServiceRun = { session_id: 'sess/1', events: [MESSAGE] };

describe('services', () => {
  testCalls([
    {
      name: 'run',
      call: ({ services }, signal) => services.run({ service: 'ep/1', input: 'hello', signal }),
      method: 'POST',
      target: '/v1/endpoints/ep%2F1/run',
      body: { input: 'hello' },
      answer: RUN,
      refused: [
        { events: [] },
        { session_id: 'sess_1' },
        { session_id: 1, events: [] },
        { session_id: 'sess_1', events: {} },
      ],
    },
  ]);

  it('goes on with a Session that is named', async () => {
    const { client, sent } = connect([RUN]);
    await client.services.run({ service: 'ep_1', input: 'more', sessionId: 'sess_1' });
    expect(sent.map(({ body }) => body)).toEqual(['{"input":"more","session_id":"sess_1"}']);
  });
});

describe('a Service that is looked for', () => {
  const page = (...data: object[]) => ({ data, next_page: null });

  it('is taken by its id without a call', async () => {
    const { client, sent } = connect([failed(500)]);
    expect(await client.services.find('ep_1')).toBe('ep_1');
    expect(sent).toEqual([]);
  });

  it.each([
    ['by its slug, whoever bears that as a name', 'clerk', 'ep_2'],
    ['by its name', 'The clerk', 'ep_1'],
  ])('is found %s', async (_, named, id) => {
    const { client, sent } = connect([
      page(
        { id: 'ep_1', name: 'The clerk', slug: 'one' },
        { id: 'ep_3', name: 'clerk' },
        { id: 'ep_2', name: 'Another', slug: 'clerk' },
      ),
    ]);
    expect(await client.services.find(named)).toBe(id);
    const query = new URLSearchParams({ q: named, limit: '100' });
    expect(sent.map(({ target }) => target)).toEqual([`/v1/endpoints?${query}`]);
  });

  it('is looked for on every page', async () => {
    const { client } = connect([
      { data: [{ id: 'ep_1', name: 'clerks' }], next_page: 'p2' },
      page({ id: 'ep_2', name: 'clerk' }),
    ]);
    expect(await client.services.find('clerk')).toBe('ep_2');
  });

  it('is told to be missing, or one of several', async () => {
    const none = connect([page({ id: 'ep_1', name: 'clerks' })]);
    await expect(none.client.services.find('clerk')).rejects.toMatchObject({
      code: 'not_found',
      status: 404,
      message: 'no service clerk',
    });
    const two = connect([page({ id: 'ep_1', name: 'clerk' }, { id: 'ep_2', name: 'clerk' })]);
    await expect(two.client.services.find('clerk')).rejects.toMatchObject({
      code: 'ambiguous',
      message: 'clerk is the name of ep_1, ep_2',
    });
  });
});

describe('a turn that is followed', () => {
  const running = { id: 'evt_3', type: 'session.status_running' };
  const said = { id: 'evt_4', type: 'agent.message' };
  const idle = { id: 'evt_5', type: 'session.status_idle', stop_reason: { type: 'end_turn' } };
  const history = { data: [MESSAGE], next_page: null };
  const live = (events: object[], isCut = false) =>
    new Response(
      // What is not read yet is lost with the connection: a comment at the end is.
      streamOf([...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), ':\n'], isCut),
    );

  async function followed(
    answers: Answer[],
    run: Pick<typeof RUN, 'session_id' | 'events'> = RUN,
    options: FollowOptions = {},
  ) {
    const { client, sent, clock } = connect(answers);
    const events = client.services.follow(run, options);
    const told: unknown[] = [];
    let read = await events.next();
    for (; !read.done; read = await events.next()) told.push(read.value);
    return { told, end: read.value, sent, clock };
  }

  it('comes event by event, with the parts of a message, to its end', async () => {
    const part = { type: 'event_delta', event_id: 'evt_4', delta: { text: 'h' } };
    const { told, end, sent } = await followed([history, live([running, part, said, idle])]);
    expect(told).toEqual([running, part, said, idle]);
    expect(end).toMatchObject({ type: 'end_turn', isOwn: true, isInterrupted: false });
    const types = ['user.message', 'user.interrupt', 'session.status_running'];
    const query = new URLSearchParams([
      ['order', 'asc'],
      ['limit', '1000'],
      ...[...types, 'session.status_idle'].map((type) => ['types', type]),
    ]);
    expect(sent.map(({ target, headers }) => [target, headers['last-event-id']])).toEqual([
      [`/v1/sessions/sess%2F1/events?${query}`, undefined],
      ['/v1/sessions/sess%2F1/events/stream?event_deltas=agent.message', 'evt_2'],
    ]);
  });

  it('goes on behind the last event that has an id where the connection breaks', async () => {
    const part = { type: 'event_delta' };
    const { told, sent, clock } = await followed([
      history,
      live([running, part], true),
      live([said, idle]),
    ]);
    expect(told).toEqual([running, part, said, idle]);
    expect(sent.map(({ headers }) => headers['last-event-id'])).toEqual([
      undefined,
      'evt_2',
      'evt_3',
    ]);
    expect(clock.pauses).toEqual([0]);
  });

  it('leaves out the turn of a message before it', async () => {
    const earlier = { id: 'evt_1', type: 'user.message' };
    const before = [
      { id: 'evt_a', type: 'session.status_running' },
      { ...idle, id: 'evt_b' },
    ];
    const { told, end } = await followed([
      { data: [earlier, MESSAGE], next_page: null },
      live([...before, running, idle]),
    ]);
    expect(told).toEqual([running, idle]);
    expect(end).toMatchObject({ type: 'end_turn', isOwn: true });
  });

  it('reads no more of the history than up to its message', async () => {
    const page = { data: [MESSAGE, { id: 'evt_9', type: 'user.message' }], next_page: 'p2' };
    const { sent } = await followed([page, live([running, idle])]);
    expect(sent).toHaveLength(2);
  });

  it(
    verifies('sessions.waiting', 'ends at once where the Session waits before its message'),
    async () => {
      const wait = { ...idle, id: 'evt_1', stop_reason: { type: 'requires_action' } };
      const before = [{ id: 'evt_0', type: 'user.message' }, { ...running, id: 'evt_a' }, wait];
      const { told, end, sent } = await followed([{ data: [...before, MESSAGE], next_page: null }]);
      expect({ told, end: end?.type, calls: sent.length }).toEqual({
        told: [],
        end: 'requires_action',
        calls: 1,
      });
    },
  );

  it(
    verifies('sessions.waiting', 'continues after a wait where it was answered, and not elsewhere'),
    async () => {
      const wait = { ...idle, id: 'evt_6', stop_reason: { type: 'requires_action' } };
      const waits = await followed([history, live([running, wait])]);
      expect(waits.end?.type).toBe('requires_action');
      const onWait = vi.fn(async () => true);
      const events = [running, wait, { ...running, id: 'evt_7' }, idle];
      const { told, end } = await followed([history, live(events)], RUN, { onWait });
      expect(told).toHaveLength(4);
      expect(end?.type).toBe('end_turn');
      expect(onWait).toHaveBeenCalledTimes(1);
    },
  );

  it(
    verifies('sessions.waiting', 'is the turn under way where an answer was sent, not a message'),
    async () => {
      const answer = { id: 'evt_2', type: 'user.tool_confirmation' };
      const wait = { ...idle, id: 'evt_1', stop_reason: { type: 'requires_action' } };
      const before = [{ id: 'evt_0', type: 'user.message' }, { ...running, id: 'evt_a' }, wait];
      const run = { session_id: 'sess/1', events: [answer] };
      const { told, end, sent } = await followed(
        [{ data: [...before, answer], next_page: null }, live([running, said, idle])],
        run,
      );
      expect(told).toEqual([running, said, idle]);
      expect(end?.type).toBe('end_turn');
      expect(sent[0]?.target).toContain('types=user.tool_confirmation');
    },
  );

  it('is given up where one connection after the other brings nothing', async () => {
    const { client, sent, clock } = connect([history, live([])]);
    const next = client.services.follow(RUN).next();
    await expect(next).rejects.toMatchObject({
      code: 'connection_lost',
      message: 'the stream of sess/1 ended 8 times and brought nothing',
    });
    expect(sent).toHaveLength(9);
    expect(clock.pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000]);
  });

  it('ends where the server refuses it', async () => {
    const { client } = connect([history, failed(404)]);
    await expect(client.services.follow(RUN).next()).rejects.toMatchObject({ status: 404 });
  });
});
