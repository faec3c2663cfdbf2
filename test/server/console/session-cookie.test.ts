import { expect, it } from 'vitest';
import { readCookie, writeCookie } from '../../../src/server/console/console-api.ts';

it.each([
  ['gateway_console=abc', 'abc'],
  ['a=1; gateway_console=abc; b=2', 'abc'],
  ['gateway_console=abc; gateway_console=abc', 'abc'],
  // One of them may be from a page that guesses.
  ['gateway_console=abc; gateway_console=def', undefined],
  ['gateway_console=', undefined],
  ['other=abc', undefined],
  [undefined, undefined],
])('reads %j as %j', (cookie, expected) => {
  expect(readCookie({ cookie })).toBe(expected);
});

it('writes one that scripts and other paths do not get', () => {
  expect(writeCookie('abc', 60, true)).toBe(
    'gateway_console=abc; Path=/console/api; Max-Age=60; HttpOnly; SameSite=Strict; Secure',
  );
});
