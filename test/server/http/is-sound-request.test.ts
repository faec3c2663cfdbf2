import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { isSoundRequest } from '../../../src/server/http/is-sound-request.ts';

interface Head {
  readonly version?: string;
  readonly url?: string;
  /** Name and value in turn, as they were sent. */
  readonly raw?: readonly string[];
}

function isSound({ version = '1.1', url = '/v1/models', raw = ['Host', 'a.test'] }: Head): boolean {
  const headers: Record<string, string> = {};
  for (let index = 0; index < raw.length; index += 2)
    headers[raw[index]?.toLowerCase() ?? ''] ??= raw[index + 1] ?? '';
  const request = { httpVersion: version, url, headers, rawHeaders: raw };
  return isSoundRequest(request as unknown as IncomingMessage);
}

const HOST = ['Host', 'a.test'];

describe('isSoundRequest', () => {
  it.each<[string, Head]>([
    ['a plain request', {}],
    ['HTTP/1.0 without a host', { version: '1.0', raw: [] }],
    ['HTTP/1.0 with a host', { version: '1.0' }],
    ['one credential', { raw: [...HOST, 'Authorization', 'Bearer a'] }],
    ['a value that reads like a name', { raw: [...HOST, 'X-A', 'host'] }],
    ['a body in chunks', { raw: [...HOST, 'Transfer-Encoding', 'Chunked'] }],
    ['a target with its own host', { url: 'http://A.test/v1/models' }],
    ['a target with its own host over TLS', { url: 'HTTPS://a.test' }],
    ['a question about the server', { url: '*' }],
    ['dots inside of segments', { url: '/v1/.well-known/a..b/...' }],
    ['an escaped dot inside of a segment', { url: '/v1/%2efile' }],
    ['dots and backslashes in the query', { url: '/v1?a=/../\\' }],
  ])('takes %s', (_what, head) => {
    expect(isSound(head)).toBe(true);
  });

  it.each<[string, Head]>([
    ['an unknown version', { version: '2.0' }],
    ['HTTP/1.1 without a host', { raw: [] }],
    ['two hosts', { raw: [...HOST, 'HOST', 'a.test'] }],
    ['two hosts of HTTP/1.0', { version: '1.0', raw: [...HOST, ...HOST] }],
    ['a host with user information', { raw: ['Host', 'user@a.test'] }],
    ['two credentials', { raw: [...HOST, 'Authorization', 'a', 'authorization', 'a'] }],
    ['another transfer coding', { raw: [...HOST, 'Transfer-Encoding', 'gzip, chunked'] }],
    ['chunks in HTTP/1.0', { version: '1.0', raw: [...HOST, 'Transfer-Encoding', 'chunked'] }],
    ['a target without a slash', { url: 'v1/models' }],
    ['a star with more behind it', { url: '*/v1' }],
    ['another scheme', { url: 'ftp://a.test/' }],
    ['a target of another host', { url: 'http://b.test/v1/models' }],
    ['a fragment', { url: '/v1/models#a' }],
    ['a step up', { url: '/v1/../admin' }],
    ['a step to the same place at the end', { url: '/v1/.' }],
    ['a step up in escapes', { url: '/v1/%2E%2e/admin' }],
    ['a step up of both kinds', { url: '/v1/.%2e?a=b' }],
    ['a backslash', { url: '/v1\\admin' }],
  ])('refuses %s', (_what, head) => {
    expect(isSound(head)).toBe(false);
  });
});
