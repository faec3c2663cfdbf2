import { expect, it } from 'vitest';
import { isByTls, senderOf } from '../../../src/server/console/same-origin.ts';

const host = 'gateway.test:8787';

it.each([
  [{ host, origin: 'http://gateway.test:8787', 'sec-fetch-site': 'same-origin' }, 'same'],
  [{ host, origin: 'https://gateway.test:8787' }, 'same'],
  [{ host, 'sec-fetch-site': 'same-origin' }, 'same'],
  [{ host: 'inner:1', 'x-forwarded-host': 'a.test', origin: 'https://a.test' }, 'same'],
  [{ host }, 'unknown'],
  [{ host, 'sec-fetch-site': 'none' }, 'unknown'],
  [{ host, 'sec-fetch-site': 'same-site' }, 'other'],
  [{ host, 'sec-fetch-site': 'cross-site' }, 'other'],
  [{ host, origin: 'http://gateway.test:8788' }, 'other'],
  [{ host, origin: 'http://gateway.test', 'sec-fetch-site': 'same-origin' }, 'other'],
  [{ host, origin: 'null' }, 'other'],
  [{ host, origin: '' }, 'other'],
] as const)('takes the sender of %j for %s', (headers, expected) => {
  expect(senderOf(headers)).toBe(expected);
});

it('knows TLS that a proxy ends', () => {
  expect(isByTls({ origin: 'https://a.test' })).toBe(true);
  expect(isByTls({ 'x-forwarded-proto': 'https' })).toBe(true);
  expect(isByTls({ origin: 'http://a.test' })).toBe(false);
});
