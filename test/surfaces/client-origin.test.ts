import { expect, it } from 'vitest';
import { clientAddress } from '../../src/surfaces/client-origin.ts';
import type { HttpExchange } from '../../src/surfaces/http-exchange.ts';

const exchange = (headers: Record<string, string>, socket: object = {}): HttpExchange =>
  ({ request: { headers, socket } }) as unknown as HttpExchange;
const NONE = { publicUrl: undefined };

it('the declared address wins over what the request says', () => {
  const declared = { publicUrl: 'https://gate.example.com/base' };
  expect(clientAddress(exchange({ host: 'other' }), declared)).toBe(declared.publicUrl);
});

it.each<[string, Record<string, string>, string]>([
  ['the host that the request names', { host: 'a:8080' }, 'http://a:8080'],
  ['this machine without one', {}, 'http://localhost'],
  ['https behind a proxy', { host: 'a', 'x-forwarded-proto': 'https' }, 'https://a'],
  ['http behind another', { host: 'a', 'x-forwarded-proto': 'http' }, 'http://a'],
])('the address is %s', (_, headers, expected) => {
  expect(clientAddress(exchange(headers), NONE)).toBe(expected);
});

it('the address is https on a socket with TLS', () => {
  expect(clientAddress(exchange({ host: 'a' }, { encrypted: true }), NONE)).toBe('https://a');
});
