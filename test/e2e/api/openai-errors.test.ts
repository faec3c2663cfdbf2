import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { ask, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;

const PATHS = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/embeddings',
  '/v1/images/generations',
  '/v1/images/edits',
];

beforeAll(async () => {
  gateway = await startGateway({
    server: { limits: { body: '1MiB' } },
    providers: [{ name: 'mock', type: 'mock' }],
    models: [{ name: 'a/text', routes: [{ provider: 'mock', upstream_model: 'echo' }] }],
  });
});

afterAll(() => gateway.stop());

/** Requests that are wrong each in its own way. */
const WRONG: Record<string, (path: string) => Promise<{ status: number; body: any }>> = {
  'no JSON': (path) => send(path, { raw: '{"model":' }),
  'no object': (path) => send(path, { raw: '[]' }),
  'an empty body': (path) => send(path, { raw: '' }),
  'no model': (path) => send(path, { raw: '{}' }),
  'an unknown model': (path) => send(path, { raw: '{"model":"a/nothing"}' }),
  'a body that is too large': (path) => send(path, { raw: `{"model":"${'x'.repeat(2 ** 21)}"}` }),
  'a body with a coding': (path) =>
    send(path, { raw: '{}', headers: { 'content-encoding': 'gzip' } }),
  'another method': (path) => send(path, { method: 'GET' }),
  'a path below it': (path) =>
    send(`${path}/x/y`, {
      method: 'POST',
      raw: '{}',
      headers: { 'user-agent': 'OpenAI/JS 7.55.0' },
    }),
};

interface Sending {
  method?: string;
  raw?: string;
  headers?: Record<string, string>;
}

async function send(path: string, { method = 'POST', raw, headers = {} }: Sending) {
  const type = { 'content-type': 'application/json' };
  const response = await fetch(gateway.url + path, {
    method,
    ...(raw !== undefined && { body: raw }),
    headers: { authorization: `Bearer ${gateway.clientKey}`, ...type, ...headers },
  });
  return { status: response.status, body: await response.json() };
}

describe.each(PATHS)('an error of %s', (path) => {
  it.each(Object.entries(WRONG))(
    verifies('errors.openai.members', 'has type, code and param for %s'),
    async (_what, play) => {
      const { status, body } = await play(path);
      expect(status).toBeGreaterThanOrEqual(400);
      const { message, type, code, param, ...rest } = body.error;
      expect(message).toMatch(/\w/);
      expect(type).toMatch(/_error$/);
      expect(code).toMatch(/^[a-z_]+$/);
      expect(param === null || typeof param === 'string').toBe(true);
      expect(rest).toEqual({});
    },
  );

  it('stays the flat text of the contract where the key is at fault', async () => {
    const { body } = await ask(gateway.url + path, { method: 'POST', key: 'gw_unknown', body: {} });
    expect(body).toEqual({ error: expect.any(String) });
  });
});
