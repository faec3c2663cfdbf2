import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const ORIGIN = 'https://app.example';
const VALUE = 'canary-77aa41c0de91f3b2';

let gateway: TestGateway;
let agent: string;

beforeAll(async () => {
  gateway = await startGateway({
    server: { cors: { origins: [ORIGIN] }, log: { level: 'debug', content: true } },
  });
  const body = { name: 'Coder', model: 'acme/fast' };
  agent = (await gateway.call('POST', '/v1/agents', { body })).body.id;
});

afterAll(() => gateway.stop());

const bodyOf = (more: object = {}) => ({
  agent_id: agent,
  scope: 'mcp',
  scope_name: 'docs',
  secret_key: 'TOKEN',
  value: VALUE,
  ...more,
});

describe('/v1/credentials', () => {
  it(
    verifies(
      'credentials.value.write-only',
      'credentials.hint-not-logged',
      'shows a secret in no answer and no log, and its hint in no log',
    ),
    async () => {
      const answers: unknown[] = [];
      const call = async (method: string, path: string, body?: unknown) => {
        const answer = await gateway.call(method, `/v1/credentials${path}`, { body });
        answers.push(answer.body);
        return answer;
      };
      const created = await call('POST', '', bodyOf());
      expect(created.status).toBe(201);
      const { id, value_hint: hint } = created.body.data;
      await call('GET', '');
      await call('GET', `/${id}`);
      await call('PATCH', `/${id}`, { value: VALUE });
      await call('POST', `/${id}/rotate`, { value: VALUE });
      await call('POST', `/${id}/rotate`, { value: { nested: VALUE } });
      await call('POST', '', bodyOf({ scope: `\u0007${VALUE}` }));
      await call('POST', '', `{"value": "${VALUE}"`);
      expect((await call('DELETE', `/${id}`)).status).toBe(405);
      expect((await call('PUT', '')).status).toBe(405);
      expect(JSON.stringify(answers)).not.toContain(VALUE);
      const admin = await gateway.admin('GET', '/admin/v1/credentials');
      expect(admin.body.data[0]).toMatchObject({ id, value_configured: true });
      expect(JSON.stringify(admin.body)).not.toContain(VALUE);
      expect(gateway.log()).not.toContain(VALUE);
      expect(gateway.log()).not.toContain(hint);
    },
  );

  it(verifies('credentials.envelope', 'tells failures in the shape of resources'), async () => {
    const missing = await gateway.call('GET', '/v1/credentials/sec_none');
    expect(missing).toMatchObject({ status: 404, body: { error: { type: 'not_found' } } });
  });

  it(
    verifies(
      'credentials.server-side-only',
      'needs the scope credentials, and is nothing for browsers',
    ),
    async () => {
      const limited = { name: 'limited', organization: 'default', scopes: ['agents', 'sessions'] };
      const { value: key } = (await gateway.admin('POST', '/admin/v1/keys', limited)).body;
      for (const method of ['GET', 'POST']) {
        const body = method === 'POST' ? bodyOf() : undefined;
        const refused = await gateway.call(method, '/v1/credentials', { key, body });
        expect(refused).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } });
      }
      const headers = { origin: ORIGIN };
      const shared = await gateway.call('GET', '/v1/agents', { headers });
      expect(shared.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      for (const method of ['GET', 'OPTIONS']) {
        const answer = await gateway.call(method, '/v1/credentials', { headers });
        const names = [...answer.headers.keys()];
        expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([]);
      }
    },
  );
});
