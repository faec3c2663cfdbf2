import { expect, it } from 'vitest';
import {
  apiAddress,
  consoleUrl,
  isConsoleServed,
} from '../../../src/server/console/is-console-served.ts';

const OWN = { host: '0.0.0.0', port: 9000 };

it.each([
  { host: '127.0.0.1', enabled: null, listen: null, expected: true },
  { host: '::1', enabled: null, listen: null, expected: true },
  { host: 'localhost', enabled: null, listen: null, expected: true },
  { host: '0.0.0.0', enabled: null, listen: null, expected: false },
  { host: '192.0.2.1', enabled: null, listen: null, expected: false },
  { host: '0.0.0.0', enabled: true, listen: null, expected: true },
  { host: '127.0.0.1', enabled: false, listen: null, expected: false },
  { host: '0.0.0.0', enabled: null, listen: OWN, expected: true },
  { host: '0.0.0.0', enabled: false, listen: OWN, expected: false },
])('is served: $expected on $host with $enabled, $listen', ({ host, expected, ...console }) => {
  const config = { listen: { host, port: 8787, tls: null }, console };
  expect(isConsoleServed(config)).toBe(expected);
});

it('names the address for people', () => {
  const listen = { host: '127.0.0.1', port: 8787, tls: null };
  const url = 'http://127.0.0.1:8787';
  const at = (console: Parameters<typeof consoleUrl>[0]['console']) =>
    consoleUrl({ listen, console }, url);
  expect(at({ enabled: null, listen: null })).toBe(`${url}/console`);
  expect(at({ enabled: null, listen: OWN })).toBe('http://localhost:9000/console');
  expect(at({ enabled: null, listen: { host: '::1', port: 9 } })).toBe('http://[::1]:9/console');
  expect(at({ enabled: false, listen: null })).toBeUndefined();
  const secure = { ...listen, tls: { cert: '/c', key: '/k' } };
  const own = { enabled: null, listen: OWN };
  expect(consoleUrl({ listen: secure, console: own }, url)).toBe('https://localhost:9000/console');
});

it.each([
  { host: '127.0.0.1', own: null, expected: undefined },
  { host: '127.0.0.1', own: OWN, expected: 'http://127.0.0.1:8787' },
  { host: '::1', own: OWN, expected: 'http://[::1]:8787' },
  // The name by which the console was reached is one of the gateway, too.
  { host: '0.0.0.0', own: OWN, expected: 'http://desk.test:8787' },
  { host: '::', own: OWN, asked: '[2001:db8::1]:9000', expected: 'http://[2001:db8::1]:8787' },
  { host: '::', own: OWN, asked: '[2001:db8::1]', expected: 'http://[2001:db8::1]:8787' },
  // It is known once it is taken.
  { host: '127.0.0.1', own: OWN, port: 0, expected: undefined },
])('names $expected as the API of $host', ({ host, own, expected, ...more }) => {
  const { asked = 'desk.test:9000', port = 8787 } = more;
  const config = { listen: { host, port, tls: null }, console: { enabled: null, listen: own } };
  expect(apiAddress(config, asked)).toBe(expected);
});
