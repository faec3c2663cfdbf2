import { expectEqual, expectStatus, expectThat, type Check } from './check.ts';

const UNKNOWN = `sk-${'0'.repeat(64)}`;
const CHAT = '/v1/chat/completions';
const GENERATE = '/v1beta/models/none:generateContent';
/** Never reaches a model: no JSON object. */
const NOTHING = '[]';

/** Checks that keys are carried and refused as promised. */
export const KEY_CHECKS: readonly Check[] = [
  {
    id: 'auth.key.required',
    title: 'no call without a key',
    async run({ send }) {
      for (const path of [CHAT, '/v1/responses', '/v1/embeddings', '/v1/messages', GENERATE])
        expectStatus(path, await send('POST', path, { key: 'none', body: {} }), 401);
      for (const path of ['/v1/models', '/v1/agents', '/v1/sessions', '/v1/endpoints'])
        expectStatus(path, await send('GET', path, { key: 'none' }), 401);
    },
  },
  {
    id: 'auth.key.missing-message',
    title: 'says that the key is missing',
    async run({ send }) {
      const { body } = await send('POST', CHAT, { key: 'none', body: {} });
      expectEqual('error', body?.error, 'missing API key in Authorization header');
    },
  },
  {
    id: 'auth.key.unknown-message',
    title: 'says that the key is unknown',
    async run({ send }) {
      const headers = { authorization: `Bearer ${UNKNOWN}` };
      const { status, body } = await send('POST', CHAT, { key: 'none', headers, body: {} });
      expectEqual('status', status, 401);
      expectEqual('error', body?.error, 'invalid API key');
    },
  },
  {
    id: 'auth.bearer.parsing',
    title: 'reads the word Bearer in any case, and no other scheme',
    async run({ send, apiKey }) {
      const path = '/v1/account/key';
      const ask = (authorization: string) =>
        send('GET', path, { key: 'none', headers: { authorization } });
      expectStatus('bEARER', await ask(`bEARER ${apiKey}`), 200);
      for (const refused of ['Basic eDp5', 'Bearer']) {
        const { status, body } = await ask(refused);
        expectEqual(`the status for ${refused}`, status, 401);
        expectEqual('error', body?.error, 'missing API key in Authorization header');
      }
    },
  },
  {
    id: 'auth.standard.bearer-only',
    title: 'takes no other carrier on standard endpoints',
    async run({ send, apiKey }) {
      for (const name of ['x-api-key', 'x-native-api-key', 'x-goog-api-key']) {
        const sending = { key: 'none' as const, headers: { [name]: apiKey }, body: NOTHING };
        expectStatus(name, await send('POST', CHAT, sending), 401);
      }
      const query = `${CHAT}?key=${encodeURIComponent(apiKey)}`;
      expectStatus('query key', await send('POST', query, { key: 'none', body: NOTHING }), 401);
    },
  },
  {
    id: 'auth.messages.carriers',
    title: 'takes x-api-key and Bearer on Messages',
    async run({ send, apiKey }) {
      const headers = { 'x-api-key': apiKey };
      const byHeader = await send('POST', '/v1/messages', { key: 'none', headers, body: NOTHING });
      expectStatus('x-api-key', byHeader, 400);
      expectStatus('Bearer', await send('POST', '/v1/messages', { body: NOTHING }), 400);
    },
  },
  {
    id: 'auth.carrier.first-present-decides',
    title: 'falls through to no second key',
    async run({ send }) {
      const headers = { 'x-api-key': UNKNOWN };
      const reply = await send('POST', '/v1/messages', { headers, body: NOTHING });
      expectStatus('a wrong x-api-key beside a right Bearer', reply, 401);
    },
  },
  {
    id: 'auth.google.carriers',
    title: 'takes x-native-api-key, Bearer and the query on generate-content',
    async run({ send, apiKey }) {
      const headers = { 'x-native-api-key': apiKey };
      const byHeader = await send('POST', GENERATE, { key: 'none', headers, body: NOTHING });
      expectStatus('x-native-api-key', byHeader, 400);
      expectStatus('Bearer', await send('POST', GENERATE, { body: NOTHING }), 400);
      const query = `${GENERATE}?key=${encodeURIComponent(apiKey)}`;
      expectStatus('query key', await send('POST', query, { key: 'none', body: NOTHING }), 400);
    },
  },
  {
    id: 'auth.google.vendor-alias',
    title: 'takes the spelling of the vendor as well',
    async run({ send, apiKey }) {
      const headers = { 'x-goog-api-key': apiKey };
      const reply = await send('POST', GENERATE, { key: 'none', headers, body: NOTHING });
      expectStatus('x-goog-api-key', reply, 400);
    },
  },
  {
    id: 'keys.admin.separate-surface',
    title: 'manages no keys below /v1',
    async run({ send }) {
      for (const method of ['GET', 'POST'])
        expectStatus(`${method} /v1/keys`, await send(method, '/v1/keys'), 404);
    },
  },
  {
    id: 'ops.health',
    title: 'tells of its health without a key',
    async run({ send }) {
      for (const path of ['/healthz', '/readyz'])
        expectStatus(path, await send('GET', path, { key: 'none' }), 200);
    },
  },
  {
    id: 'ops.cors-and-host',
    title: 'lets no page of another origin look at credentials',
    async run({ send }) {
      const headers = { origin: 'https://elsewhere.example' };
      const { headers: answered } = await send('GET', '/v1/credentials', { headers });
      const allowed = answered.get('access-control-allow-origin');
      expectThat(allowed === null, `access-control-allow-origin is ${allowed}`);
    },
  },
];
