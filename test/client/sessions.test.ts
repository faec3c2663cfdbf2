import { describe, expect, it } from 'vitest';
import { collect } from '../../src/client/http/pages.ts';
import { connect, streamOf, testCalls, testLists, without } from './support.ts';

const SESSION = {
  id: 'sess_1',
  status: 'idle',
  title: null,
  agent: { id: 'agt_1', name: 'clerk', version: 1 },
  created_at: '2026-11-21T10:00:00Z',
};
const EVENT = { id: 'evt_1', type: 'user.message' };
const MEMBERS = ['id', 'status', 'created_at'];

const INCLUDE = 'include=outcome%2Cwaiting';

describe('sessions', () => {
  testCalls([
    {
      name: 'get',
      call: ({ sessions }, signal) => sessions.get('sess/1', signal),
      method: 'GET',
      target: `/v1/sessions/sess%2F1?${INCLUDE}`,
      answer: SESSION,
      refused: without(SESSION, ...MEMBERS),
    },
    {
      name: 'archive',
      call: ({ sessions }, signal) => sessions.archive('sess/1', signal),
      method: 'POST',
      target: '/v1/sessions/sess%2F1/archive',
      body: {},
      answer: SESSION,
      refused: without(SESSION, ...MEMBERS),
    },
    {
      name: 'delete',
      call: ({ sessions }, signal) => sessions.delete('sess/1', signal),
      method: 'DELETE',
      target: '/v1/sessions/sess%2F1',
      answer: { id: 'sess_1' },
      gives: undefined,
      refused: [{}],
    },
  ]);

  testLists([
    {
      name: 'list',
      call: ({ sessions }, signal) => sessions.list({ agent_id: 'a', limit: 5 }, signal),
      targets: [
        `/v1/sessions?limit=5&${INCLUDE}&agent_id=a`,
        `/v1/sessions?limit=5&${INCLUDE}&agent_id=a&page=p+2`,
      ],
      item: SESSION,
      refused: without(SESSION, ...MEMBERS),
    },
    {
      name: 'events',
      call: ({ sessions }, signal) => sessions.events('sess/1', { order: 'desc' }, signal),
      targets: [
        '/v1/sessions/sess%2F1/events?limit=1000&order=desc',
        '/v1/sessions/sess%2F1/events?limit=1000&order=desc&page=p+2',
      ],
      item: EVENT,
      refused: without(EVENT, 'id', 'type'),
    },
  ]);

  it('asks for a hundred at once where nobody says how many', async () => {
    const { client, sent } = connect([{ data: [] }]);
    await collect(client.sessions.list());
    expect(sent.map(({ target }) => target)).toEqual([`/v1/sessions?limit=100&${INCLUDE}`]);
  });

  it('tails one from behind its history', async () => {
    const next = { id: 'evt_2', type: 'session.deleted' };
    const live = new Response(streamOf([`data: ${JSON.stringify(next)}\n\n`]));
    const { client, sent } = connect([{ data: [EVENT] }, live]);
    const events = client.sessions.tail('sess/1');
    const told: unknown[] = [];
    let read = await events.next();
    for (; !read.done; read = await events.next()) told.push(read.value);
    expect(told).toEqual([EVENT, next]);
    expect(read.value).toEqual({ type: 'deleted', error: undefined });
    expect(sent.map(({ target, headers }) => [target, headers['last-event-id']])).toEqual([
      ['/v1/sessions/sess%2F1/events?limit=1000&order=asc', undefined],
      ['/v1/sessions/sess%2F1/events/stream', 'evt_1'],
    ]);
  });

  it('gives the history alone where nothing is followed', async () => {
    const { client, sent } = connect([{ data: [EVENT] }]);
    expect(await collect(client.sessions.tail('sess_1', { follow: false }))).toEqual([EVENT]);
    expect(sent).toHaveLength(1);
  });
});
