import { expect, it } from 'vitest';
import { clientHeaders } from '../../src/upstream/response-headers.ts';
import { verifies } from '../requirements.ts';

it(
  verifies('routing.upstream-headers.allow-list', 'passes on what a body needs, and nothing else'),
  () => {
    const headers = {
      'content-type': 'application/json',
      'content-language': ['en', 'de'],
      'set-cookie': ['a=1'],
      'openai-organization': 'org-1',
      'x-ratelimit-remaining': '7',
    };
    expect(clientHeaders(headers)).toEqual({
      'content-type': 'application/json',
      'content-language': 'en, de',
    });
  },
);

it('leaves out a value that could not be written, which would cost the client its answer', () => {
  const headers = { 'content-type': 'text/plain', 'content-disposition': 'filename="漢"' };
  expect(clientHeaders(headers)).toEqual({ 'content-type': 'text/plain' });
  expect(clientHeaders({ 'content-disposition': 'a\r\nx-evil: 1' })).toEqual({});
});
