import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { COMPLETION, customProvider, orderedModel } from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

/** Each call costs 0.001 dollars, whatever it says. */
const PRICED = { pricing: { per_call: '0.001' } };
const SESSION = '0f9e4a52-71c1-4a36-9d0e-0a4f5a4a6c11';

describe('conversations', () => {
  let upstream: Upstream;
  let gateway: TestGateway;
  let key: string;

  beforeAll(async () => {
    upstream = await startUpstream((response) => sendJson(response, 200, COMPLETION));
    gateway = await startGateway({
      server: {
        log: { level: 'info', format: 'json' },
        usage: { labels: ['team'], tags: ['feature'], end_users: 'hashed' },
      },
      providers: [customProvider('acme', upstream.url)],
      models: [orderedModel('m/priced', ['acme'], PRICED)],
    });
    const made = await gateway.admin('POST', '/admin/v1/keys', {
      name: 'guarded',
      labels: { team: 'core', cost_center: '7' },
      limits: { conversation_spending: '0.003' },
    });
    expect(made.status).toBe(201);
    key = made.body.value;
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const ask = (headers: Record<string, string>, body: object = {}): Promise<Answer> =>
    gateway.chat('m/priced', { key, headers, body: { max_tokens: 5, ...body } });

  it(
    verifies(
      'conversations.headers',
      'limits.conversation-spending',
      'are kept in records and log lines, refused when they have spent their limit, and no others are',
    ),
    async () => {
      const headers = { 'x-claude-code-session-id': SESSION };
      const answers: Answer[] = [];
      for (let index = 0; index < 5; index++) answers.push(await ask(headers));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 402, 402]);
      expect(JSON.stringify(answers[3]?.body)).toContain('API key spending limit exceeded');
      expect((await ask({ 'session-id': 'another' })).status).toBe(200);
      expect((await ask({})).status).toBe(200);

      const path = `/admin/v1/requests?conversation=${SESSION}&limit=10`;
      const records = await eventually(async () => {
        const { data } = (await gateway.admin('GET', path)).body;
        return data.length === 5 ? data : undefined;
      });
      const told = records.map(({ status, conversation }: Record<string, unknown>) => ({
        status,
        conversation,
      }));
      expect(told).toEqual(
        [402, 402, 200, 200, 200].map((status) => ({ status, conversation: SESSION })),
      );
      expect(gateway.log()).toContain(`"conversation":"${SESSION}"`);
      const { body } = await gateway.admin('GET', `/admin/v1/usage?conversation=${SESSION}`);
      expect(body.data).toMatchObject([{ cost: '0.003' }]);
    },
  );

  it(
    verifies(
      'usage.by-dimension',
      'usage.tags-allow-list',
      'usage.end-user',
      'and labels, tags and end users are told apart in the use of the organization',
    ),
    async () => {
      const headers = { 'x-session-id': 's', 'x-gateway-tags': 'feature=search, secret=1' };
      const { status } = await ask(headers, { user: 'alice@example.com' });
      expect(status).toBe(200);
      const usage = async (query: string): Promise<Record<string, unknown>[]> =>
        (await gateway.call('GET', `/v1/account/usage?${query}`, { key })).body.data;
      const one = { requests: 1, cost: '0.001' };
      expect(await usage('group_by=tag:feature')).toContainEqual(
        expect.objectContaining({ 'tag:feature': 'search', ...one }),
      );
      const [person, ...nobody] = await usage('group_by=end_user').then((rows) =>
        rows.toSorted((a) => (a['end_user'] === null ? 1 : -1)),
      );
      expect(person).toMatchObject({ end_user: expect.stringMatching(/^user_[\w-]{22}$/), ...one });
      expect(nobody).toHaveLength(1);
      expect(JSON.stringify(await gateway.admin('GET', '/admin/v1/requests'))).not.toContain(
        'alice',
      );
      for (const group of ['label:team', 'vendor', 'key', 'conversation', 'model']) {
        const rows = await usage(`group_by=${group}`);
        const [total] = await usage('');
        const sum = rows.reduce((all, { requests }) => all + Number(requests), 0);
        expect(sum, group).toBe(total?.['requests']);
      }
      expect(await usage('group_by=label:team')).toContainEqual(
        expect.objectContaining({ 'label:team': 'core' }),
      );
      expect(
        (await gateway.call('GET', '/v1/account/usage?group_by=tag:secret', { key })).status,
      ).toBe(400);
    },
  );
});
