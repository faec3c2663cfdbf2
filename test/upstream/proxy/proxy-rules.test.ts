import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { createProxyRules } from '../../../src/upstream/proxy/proxy-rules.ts';
import type { Environment } from '../../../src/upstream/proxy/proxy-rules.ts';

const nameFor = (env: Environment, url: string, declared?: string): string | undefined =>
  createProxyRules(env).proxyOf(url, declared)?.name;

it.each([
  [{}, 'https://a.example', undefined],
  [{ HTTPS_PROXY: 'http://p:1' }, 'https://a.example', 'http://p:1'],
  [{ HTTPS_PROXY: 'http://p:1' }, 'http://a.example', undefined],
  [{ HTTP_PROXY: 'http://p:1' }, 'http://a.example', 'http://p:1'],
  [{ http_proxy: 'http://q:2', HTTP_PROXY: 'http://p:1' }, 'http://a.example', 'http://q:2'],
  [{ ALL_PROXY: 'http://p:1' }, 'https://a.example', 'http://p:1'],
  [{ ALL_PROXY: 'http://p:1', https_proxy: 'https://s' }, 'https://a.example', 'https://s:443'],
  [{ HTTP_PROXY: 'p.example:3128' }, 'http://a.example', 'http://p.example:3128'],
  [{ HTTP_PROXY: '' }, 'http://a.example', undefined],
  [{ HTTP_PROXY: 'http://p:1', NO_PROXY: 'a.example' }, 'http://a.example', undefined],
  [{ HTTP_PROXY: 'http://p:1', no_proxy: 'a.example:81' }, 'http://a.example', 'http://p:1'],
  [{ HTTP_PROXY: 'http://p:1' }, 'http://127.0.0.1:11434', 'http://p:1'],
])('%j leads %s to %s', (env, url, expected) => {
  expect(nameFor(env, url)).toBe(expected);
});

it('what a provider declares wins, and none is none', () => {
  const env = { HTTPS_PROXY: 'http://p:1', NO_PROXY: '*' };
  expect(nameFor(env, 'https://a.example', 'http://own:2')).toBe('http://own:2');
  expect(nameFor({ HTTPS_PROXY: 'http://p:1' }, 'https://a.example', 'none')).toBeUndefined();
});

it('a declared proxy has the credentials of the environment for its address alone', () => {
  const rules = createProxyRules({ HTTPS_PROXY: 'http://us%40er:pass@p:1' });
  const basic = `Basic ${Buffer.from('us@er:pass').toString('base64')}`;
  expect(rules.proxyOf('https://a.example', 'http://p:1')?.authorization).toBe(basic);
  expect(rules.proxyOf('https://a.example', 'http://p:2')?.authorization).toBeUndefined();
});

it('a variable that names no proxy is told without its value', () => {
  expect(() => createProxyRules({ HTTPS_PROXY: 'socks5://user:hush@p:1' })).toThrow(
    /^the variable HTTPS_PROXY names no proxy: expected http:\/\/host:port or https:\/\/host:port$/,
  );
});
