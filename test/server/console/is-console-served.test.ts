import { expect, it } from 'vitest';
import { consoleUrl, isConsoleServed } from '../../../src/server/console/is-console-served.ts';

const OWN = { host: '0.0.0.0', port: 9000 };

it.each([
  ['127.0.0.1', null, null, true],
  ['::1', null, null, true],
  ['localhost', null, null, true],
  ['0.0.0.0', null, null, false],
  ['192.0.2.1', null, null, false],
  ['0.0.0.0', true, null, true],
  ['127.0.0.1', false, null, false],
  ['0.0.0.0', null, OWN, true],
  ['0.0.0.0', false, OWN, false],
])('on %s with enabled %s and listen %j: %s', (host, enabled, listen, expected) => {
  const config = { listen: { host, port: 8787 }, console: { enabled, listen } };
  expect(isConsoleServed(config)).toBe(expected);
});

it('names the address for people', () => {
  const listen = { host: '127.0.0.1', port: 8787 };
  const url = 'http://127.0.0.1:8787';
  const at = (console: Parameters<typeof consoleUrl>[0]['console']) =>
    consoleUrl({ listen, console }, url);
  expect(at({ enabled: null, listen: null })).toBe(`${url}/console`);
  expect(at({ enabled: null, listen: OWN })).toBe('http://localhost:9000/console');
  expect(at({ enabled: null, listen: { host: '::1', port: 9 } })).toBe('http://[::1]:9/console');
  expect(at({ enabled: false, listen: null })).toBeUndefined();
});
