import { expectEqual, expectStatus, expectThat, type Check } from './check.ts';

/** Checks of the resources of organizations; nothing is created. */
export const RESOURCE_CHECKS: readonly Check[] = [
  {
    id: 'resource.pagination.envelope',
    title: 'lists in pages of one shape',
    async run({ send }) {
      for (const kind of ['agents', 'sessions', 'endpoints', 'deployments', 'skills']) {
        const reply = await send('GET', `/v1/${kind}?limit=1`);
        expectStatus(kind, reply, 200);
        expectThat(Array.isArray(reply.body?.data), `${kind} has no data`);
        expectThat('next_page' in reply.body, `${kind} has no next_page`);
      }
    },
  },
  {
    id: 'resource.pagination.params',
    title: 'refuses bad limits and cursors',
    async run({ send }) {
      for (const query of ['limit=none', 'limit=-1', 'page=none'])
        expectStatus(query, await send('GET', `/v1/agents?${query}`), 400);
    },
  },
  {
    id: 'agents.create.required',
    title: 'creates no Agent without name and model',
    async run({ send }) {
      for (const body of [{}, { name: 'selftest' }])
        expectStatus(JSON.stringify(body), await send('POST', '/v1/agents', { body }), 400);
    },
  },
  {
    id: 'endpoints.create.required',
    title: 'creates no Service without what it needs',
    async run({ send }) {
      for (const body of [{}, { name: 'selftest' }, { name: 'selftest', protocols: ['rest'] }])
        expectStatus(JSON.stringify(body), await send('POST', '/v1/endpoints', { body }), 400);
    },
  },
  {
    id: 'deployments.create.required',
    title: 'creates no Schedule without what it needs',
    async run({ send }) {
      for (const body of [{}, { name: 'selftest' }])
        expectStatus(JSON.stringify(body), await send('POST', '/v1/deployments', { body }), 400);
    },
  },
  {
    id: 'credentials.create.required',
    title: 'creates no credential without what it needs',
    async run({ send }) {
      expectStatus('{}', await send('POST', '/v1/credentials', { body: {} }), 400);
    },
  },
  {
    id: 'credentials.no-delete',
    title: 'deletes no credential',
    async run({ send }) {
      expectStatus('DELETE', await send('DELETE', '/v1/credentials/sec_none'), 405);
    },
  },
  {
    id: 'credentials.envelope',
    title: 'wraps what it says of credentials',
    async run({ send }) {
      const reply = await send('GET', '/v1/credentials');
      expectStatus('/v1/credentials', reply, 200);
      expectEqual('the envelope', [reply.body?.code, reply.body?.message], [0, 'ok']);
    },
  },
  {
    id: 'sessions.get',
    title: 'knows no Session that does not exist',
    async run({ send }) {
      expectStatus('an unknown Session', await send('GET', '/v1/sessions/sess_none'), 404);
    },
  },
  {
    id: 'runs.get',
    title: 'knows no run that does not exist',
    async run({ send }) {
      expectStatus('an unknown run', await send('GET', '/v1/deployment_runs/drun_none'), 404);
    },
  },
  {
    id: 'account.lookups',
    title: 'tells the balance as decimal texts',
    async run({ send }) {
      const reply = await send('GET', '/v1/account/balance');
      expectStatus('/v1/account/balance', reply, 200);
      for (const member of ['balance', 'credit', 'spent'])
        expectThat(/^-?\d+(\.\d+)?$/.test(String(reply.body?.[member])), `${member} is no decimal`);
    },
  },
];
