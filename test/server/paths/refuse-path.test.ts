import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createPathRefuser } from '../../../src/server/paths/refuse-path.ts';

const refuse = createPathRefuser([{ path: '/v1/things', envelope: 'resource' }]);

describe('an unknown path', () => {
  it.each([
    ['OpenAI/JS 6.0.0', 'chat'],
    ['AsyncOpenAI/Python 2.0.0', 'chat'],
    ['AzureOpenAI/Python 2.0.0', 'chat'],
    ['AsyncAzureOpenAI/Python 2.0.0', 'chat'],
    ['NotOpenAI/1', 'flat'],
    ['curl/8', 'flat'],
  ])('is told to %s in the shape %s', (userAgent, envelope) => {
    const request = { url: '/v1/nothing', headers: { 'user-agent': userAgent } };
    expect(refuse(request as unknown as IncomingMessage).envelope).toBe(envelope);
  });
});

it('says what is there in place of environments and vaults of managed agents', () => {
  const told = (url: string) => refuse({ url, headers: {} } as IncomingMessage).error.message;
  for (const url of ['/v1/environments', '/v1/environments?beta=true', '/v1/environments/env_1'])
    expect(told(url)).toMatch(
      /there are no environments.*leave environment_id out.*\/v1\/sessions/,
    );
  expect(told('/v1/vaults')).toContain('POST /v1/credentials');
  expect(told('/v1/environmentsx')).toContain('GET /openapi.json');
});
