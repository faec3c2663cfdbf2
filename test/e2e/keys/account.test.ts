import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';

const DECIMAL = /^-?\d+\.\d{2,9}$/;
const PRICED = { provider: 'mock', pricing: { per_call: '0.15' } };

describe('the account', () => {
  let gateway: TestGateway;
  let stranger: string;
  beforeAll(async () => {
    gateway = await startGateway({
      organizations: [
        { name: 'limited', spending_limit: { lifetime: '1', day: '0.75' } },
        { name: 'prepaid', credit: '0.30', spending_limit: 5 },
      ],
      providers: [{ name: 'mock', type: 'mock' }],
      models: [
        { name: 'acme/priced', routes: [PRICED] },
        { name: 'acme/free', routes: [{ provider: 'mock' }] },
      ],
    });
    stranger = await createKey('stranger', { organization: 'limited' });
  });
  afterAll(() => gateway.stop());

  async function createKey(name: string, body: object): Promise<string> {
    const made = await gateway.admin('POST', '/admin/v1/keys', { name, ...body });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return made.body.value;
  }

  const get = (path: string, key?: string): Promise<Answer> =>
    gateway.call('GET', `/v1/account/${path}`, key === undefined ? {} : { key });

  /** What is settled is in the books a moment later. */
  const spent = (amount: string, key?: string): Promise<Answer> =>
    eventually(async () => {
      const answer = await get('balance', key);
      return answer.body.spent === amount && answer;
    });

  it(
    verifies('account.lookups', 'tells what is left and what was spent, as decimal strings'),
    async () => {
      const before = await get('balance', stranger);
      expect(before).toMatchObject({
        status: 200,
        body: {
          currency: 'USD',
          balance: '0.00',
          credit: '0.00',
          spending_limit: '1.00',
          spent: '0.00',
        },
      });
      for (const amount of ['balance', 'credit', 'spending_limit', 'spent'])
        expect(before.body[amount]).toMatch(DECIMAL);
      await gateway.chat('acme/priced', { key: stranger });
      const { body } = await spent('0.15', stranger);
      expect(body).toMatchObject({ balance: '-0.15', spending_limit: '1.00', reserved: '0.00' });
      expect(body.windows).toEqual({
        lifetime: { limit: '1.00', spent: '0.15' },
        month: { limit: null, spent: '0.15' },
        day: { limit: '0.75', spent: '0.15' },
      });
    },
  );

  it('counts down what was prepaid and refuses with 402 when it is gone', async () => {
    const key = await createKey('prepaid', { organization: 'prepaid' });
    expect((await get('balance', key)).body).toMatchObject({ credit: '0.30', balance: '0.30' });
    await gateway.chat('acme/priced', { key });
    await gateway.chat('acme/priced', { key });
    expect((await spent('0.30', key)).body).toMatchObject({ balance: '0.00' });
    expect(await gateway.chat('acme/free', { key })).toMatchObject({
      status: 402,
      body: { error: 'organization spending limit reached' },
    });
    const more = { credit: '1' };
    expect((await gateway.admin('PATCH', '/admin/v1/organizations/prepaid', more)).status).toBe(
      200,
    );
    await eventually(async () => (await gateway.chat('acme/free', { key })).status === 200);
  });

  it(
    verifies(
      'account.lookups',
      'pages through the calls of the organization, newest first, without content',
    ),
    async () => {
      const asked: string[] = [];
      for (const model of ['acme/free', 'acme/priced', 'acme/free', 'acme/none']) {
        const answer = await gateway.chat(model, { key: gateway.clientKey });
        if (answer.status === 200) asked.push(answer.headers.get('x-request-id') ?? '');
      }
      const own = await eventually(async () => {
        const { body } = await get('executions?limit=100&status=ok');
        return body.data.length >= asked.length && body.data;
      });
      expect(own.map(({ id }: { id: string }) => id)).toEqual([...asked].reverse());
      const seen: string[] = [];
      let page: string | null = '';
      while (page !== null) {
        const { body }: Answer = await get(`executions?limit=1&status=ok&page=${page}`);
        seen.push(...body.data.map(({ id }: { id: string }) => id));
        page = body.next_page;
      }
      expect(seen).toEqual([...asked].reverse());
      const [first] = own;
      const members =
        'id type created_at key surface model alias stream conversation end_user tags status result error_code usage estimated cost first_content_ms total_ms';
      expect(Object.keys(first).sort()).toEqual(members.split(' ').sort());
      expect((await get('executions?model=acme%2Fpriced')).body.data).toMatchObject([
        { id: asked[1], cost: '0.15', status: 200 },
      ]);
      expect((await get(`executions/${asked[1]}`)).body).toMatchObject({ id: asked[1] });
    },
  );

  it(
    verifies('account.lookups', 'shows nothing of another organization, whatever the query says'),
    async () => {
      const answer = await gateway.chat('acme/free', { key: stranger });
      const id = answer.headers.get('x-request-id') ?? '';
      await eventually(async () => (await get(`executions/${id}`, stranger)).status === 200);
      expect(await get(`executions/${id}`)).toMatchObject({
        status: 404,
        body: { error: { type: 'not_found' } },
      });
      const { body } = await get('executions?limit=100&organization=limited');
      expect(JSON.stringify(body)).not.toContain(id);
      const usage = await get('usage?group_by=model&organization=limited', stranger);
      const models = usage.body.data.map(({ model }: { model: string }) => model);
      expect(models).toEqual(['acme/free', 'acme/priced']);
    },
  );

  it('answers 403 without the scope `account`, and 400 for what it cannot read', async () => {
    const key = await createKey('narrow', { scopes: ['inference'] });
    for (const path of ['balance', 'executions', 'usage', 'executions/req_1'])
      expect(await get(path, key)).toMatchObject({
        status: 403,
        body: { error: 'insufficient_scope' },
      });
    for (const query of ['limit=0', 'page=x', 'status=odd', 'from=later'])
      expect((await get(`executions?${query}`)).status).toBe(400);
  });
});
