import { expectEqual, expectStatus, expectTexts, expectThat, type Check } from './check.ts';
import type { Probe } from './probe.ts';

const CHAT = '/v1/chat/completions';
const GENERATE = '/v1beta/models/none:generateContent';

/** The shapes of errors, by family. */
export const ERROR_CHECKS: readonly Check[] = [
  {
    id: 'errors.flat.shape',
    title: 'refuses with a plain text in JSON, also where a stream was asked for',
    async run({ send }) {
      const headers = { accept: 'text/event-stream' };
      const reply = await send('POST', CHAT, { key: 'none', headers, body: { stream: true } });
      expectTexts('the body', reply.body, 'error');
      const type = reply.headers.get('content-type') ?? '';
      expectThat(type.startsWith('application/json'), `content-type is ${type}`);
    },
  },
  {
    id: 'errors.chat.shape',
    title: 'chat errors have message, type, param and code',
    run: (probe) => expectFourMembers(CHAT, probe),
  },
  {
    id: 'errors.family.embeddings-images-responses',
    title: 'responses, embeddings and images have the same four members',
    async run(probe) {
      for (const path of ['/v1/responses', '/v1/embeddings', '/v1/images/generations'])
        await expectFourMembers(path, probe);
    },
  },
  {
    id: 'errors.messages.shape',
    title: 'Messages errors name their type',
    async run({ send }) {
      const reply = await send('POST', '/v1/messages', { body: {} });
      expectStatus('/v1/messages', reply, 400);
      expectEqual('type', reply.body?.type, 'error');
      expectEqual('error.type', reply.body?.error?.type, 'invalid_request_error');
      expectTexts('error', reply.body?.error, 'message');
      const refused = await send('POST', '/v1/messages', { key: 'none', body: {} });
      expectEqual('error.type', refused.body?.error?.type, 'authentication_error');
    },
  },
  {
    id: 'errors.google.shape',
    title: 'generate-content errors have code, message and status',
    async run({ send }) {
      for (const reply of [
        await send('POST', GENERATE, { body: '[]' }),
        await send('POST', GENERATE, { key: 'none', body: {} }),
      ]) {
        expectEqual('error.code', reply.body?.error?.code, reply.status);
        expectTexts('error', reply.body?.error, 'message', 'status');
      }
    },
  },
  {
    id: 'errors.google.status-names',
    title: 'generate-content errors use the names of their statuses',
    async run({ send }) {
      const wrong = await send('POST', GENERATE, { body: '[]' });
      expectEqual('error.status', wrong.body?.error?.status, 'INVALID_ARGUMENT');
      const refused = await send('POST', GENERATE, { key: 'none', body: {} });
      expectEqual('error.status', refused.body?.error?.status, 'UNAUTHENTICATED');
    },
  },
  {
    id: 'errors.invalid-json',
    title: 'answers 400 to what is no JSON object',
    async run({ send }) {
      for (const path of [CHAT, '/v1/responses', '/v1/embeddings', '/v1/messages', GENERATE]) {
        for (const body of ['{', '[]', '"x"'])
          expectStatus(`${path} with ${body}`, await send('POST', path, { body }), 400);
      }
    },
  },
  {
    id: 'errors.route.unknown',
    title: 'answers 404 to unknown paths and 405 with Allow to other methods',
    async run({ send }) {
      const unknown = await send('GET', '/v1/nothing-here');
      expectStatus('an unknown path', unknown, 404);
      expectTexts('the body', unknown.body, 'error');
      const other = await send('DELETE', CHAT);
      expectStatus(`DELETE ${CHAT}`, other, 405);
      expectEqual('allow', other.headers.get('allow')?.includes('POST'), true);
    },
  },
  {
    id: 'errors.request-id.header',
    title: 'gives every answer one id under both names',
    async run({ send }) {
      for (const reply of [
        await send('GET', '/v1/models'),
        await send('POST', CHAT, { key: 'none', body: {} }),
        await send('GET', '/v1/nothing-here'),
      ]) {
        const id = reply.headers.get('x-request-id');
        expectThat(!!id, 'there is no x-request-id');
        expectEqual('request-id', reply.headers.get('request-id'), id);
      }
    },
  },
  {
    id: 'resource.error.shape',
    title: 'resource errors have type and message',
    async run({ send }) {
      const reply = await send('GET', '/v1/agents/agent_nothing');
      expectStatus('an unknown agent', reply, 404);
      expectTexts('error', reply.body?.error, 'type', 'message');
    },
  },
];

async function expectFourMembers(path: string, { send }: Probe): Promise<void> {
  const reply = await send('POST', path, { body: {} });
  expectStatus(path, reply, 400);
  expectTexts(`error of ${path}`, reply.body?.error, 'message', 'type');
  const members = Object.keys(reply.body.error).sort();
  expectEqual(`the members of error of ${path}`, members, ['code', 'message', 'param', 'type']);
}
