import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { historyOf, ORG } from '../../sessions/support.ts';
import { SERVICE, serveServices } from './serve-services.ts';

describe('a Service run', () => {
  it(
    verifies(
      'endpoints.run.202',
      'endpoints.run.new-session',
      'sessions.identity.public-id',
      'answers 202 with one event of a new Session that has the metadata of the Service',
    ),
    async () => {
      const { call, sessions } = await serveServices();
      const { status, body } = await call('POST', 'run', { body: { input: 'hello' } });
      expect(status).toBe(202);
      expect(body).toEqual({
        session_id: expect.stringMatching(/^sess_/),
        events: [
          {
            id: expect.stringMatching(/^sevt_/),
            type: 'user.message',
            processed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          },
        ],
      });
      const session = await sessions.get(ORG, body.session_id);
      expect(session).toMatchObject({
        endpointId: 'ep_1',
        entryPoint: 'service',
        metadata: SERVICE.sessionMetadata,
        agent: { id: 'agent_1', version: 2 },
      });
      const history = await historyOf(sessions, body.session_id);
      const sent = history.filter(({ event }) => event.type === 'user.message');
      expect(sent.map(({ event }) => event)).toMatchObject([
        { id: body.events[0].id, content: [{ type: 'text', text: 'hello' }] },
      ]);
    },
  );

  it(
    verifies(
      'endpoints.run.existing-session',
      'goes on with any Session of the organization and refuses those that take no more',
    ),
    async () => {
      const { call, sessions } = await serveServices();
      const content = [{ type: 'text', text: 'one' }];
      const first = await call('POST', 'run', { body: { content, session_id: null } });
      const session_id: string = first.body.session_id;
      const second = await call('POST', 'run', { body: { input: 'two', session_id } });
      expect(second).toMatchObject({ status: 202, body: { session_id } });
      const history = await historyOf(sessions, session_id);
      expect(history.filter(({ event }) => event.type === 'user.message')).toHaveLength(2);

      const unknown = await call('POST', 'run', { body: { input: 'x', session_id: 'sess_0' } });
      expect(unknown).toMatchObject({ status: 404, body: { error: { type: 'not_found' } } });
      await sessions.archive(ORG, session_id);
      const archived = await call('POST', 'run', { body: { input: 'x', session_id } });
      expect(archived.status).toBe(409);
      expect(archived.headers.get('x-should-retry')).toBe('false');
    },
  );

  it(
    verifies('endpoints.run.input-or-content', 'takes exactly one of input and content'),
    async () => {
      const { call, sessions } = await serveServices();
      const content = [{ type: 'text', text: 'x' }];
      for (const body of [
        {},
        { input: 'x', content },
        { input: '' },
        { content: [] },
        { input: 1 },
      ])
        expect((await call('POST', 'run', { body })).status, JSON.stringify(body)).toBe(400);
      const wrong = await call('POST', 'run', { body: { content: [{ type: 'text' }] } });
      expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'content[0].text' } } });
      expect(wrong.body.error.message).toMatch(/^content\[0\]\.text: /);
      expect(await sessions.list(ORG, { limit: 10, order: 'asc' })).toEqual([]);
    },
  );

  it(
    verifies(
      'endpoints.run.requires-active',
      'endpoints.run.requires-protocol',
      'endpoints.run.refusal-status',
      'refuses every protocol of a disabled Service and those that it does not list',
    ),
    async () => {
      const { call, services, sessions } = await serveServices();
      services.set('ep_1', { ...SERVICE, status: 'disabled' });
      for (const below of ['run', 'mcp', 'acp']) {
        const { status, headers, body } = await call('POST', below, { body: { input: 'x' } });
        expect(status).toBe(409);
        expect(headers.get('x-should-retry')).toBe('false');
        expect(body.error.type).toBe('endpoint_disabled');
      }
      services.set('ep_1', { ...SERVICE, protocols: ['mcp'] });
      for (const below of ['run', 'acp']) {
        const { status, body } = await call('POST', below, { body: { input: 'x' } });
        expect(status).toBe(404);
        expect(body.error.type).toBe('protocol_not_enabled');
      }
      services.set('ep_1', { ...SERVICE, protocols: ['rest'] });
      expect((await call('POST', 'mcp', { body: {} })).status).toBe(404);
      expect(await sessions.list(ORG, { limit: 10, order: 'asc' })).toEqual([]);
    },
  );

  it('is for keys of the organization that may call Services', async () => {
    const { call } = await serveServices();
    const body = { input: 'x' };
    expect((await call('POST', 'run', { body, key: '' })).status).toBe(401);
    expect((await call('POST', 'run', { body, key: 'org_1_limited' })).status).toBe(403);
    expect((await call('POST', 'run', { body, key: 'org_2' })).status).toBe(404);
    expect((await call('POST', 'run', { body: '{' })).status).toBe(400);
    expect((await call('GET', 'run')).status).toBe(405);
  });
});
