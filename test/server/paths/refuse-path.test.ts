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
