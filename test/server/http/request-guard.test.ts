import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { createRequestGuard } from '../../../src/server/http/request-guard.ts';

const guard = createRequestGuard({
  urlBytes: 10,
  listenHost: '127.0.0.1',
  allowedHosts: [],
  origins: [],
});
const ask = (host: string, url?: string): IncomingMessage =>
  ({ url, headers: { host } }) as unknown as IncomingMessage;

it('takes a target of just the longest length, and one that is missing', () => {
  expect(() => guard(ask('localhost', '/123456789'))).not.toThrow();
  expect(() => guard(ask('localhost'))).not.toThrow();
});

it('refuses a longer one before it looks at the host', () => {
  const long = ask('evil.example', '/1234567890');
  expect(() => guard(long)).toThrow(expect.objectContaining({ code: 'url_too_long' }));
});

it('refuses a foreign host', () => {
  const foreign = ask('evil.example', '/');
  expect(() => guard(foreign)).toThrow(expect.objectContaining({ code: 'host_not_allowed' }));
});
