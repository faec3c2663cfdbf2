import { expect, it } from 'vitest';
import { pathBelow } from '../../src/surfaces/path-below.ts';

it.each([
  ['/v1/things/a', 'a'],
  ['/v1/things/a/', 'a'],
  ['/v1/things/a/b/', 'a/b'],
  ['/v1/things/a//', 'a/'],
  ['/v1/things/a%2F', 'a%2F'],
  ['/v1/things/', ''],
])('below %s there is %j', (path, below) => {
  expect(pathBelow(path, '/v1/things')).toBe(below);
});
