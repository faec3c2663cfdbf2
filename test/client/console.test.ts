import { describe, expect, it } from 'vitest';
import { BASE, connect, testCalls, without } from './support.ts';

const LINK = { path: '/console/#/sign-in/1', expires_at: '2026-11-21T10:00:00Z' };

describe('links to the console', () => {
  testCalls([
    {
      name: 'createLink',
      call: ({ console }, signal) => console.createLink(signal),
      method: 'POST',
      target: '/admin/v1/console/links',
      body: {},
      answer: LINK,
      gives: { href: `${BASE}/console/#/sign-in/1`, expires_at: LINK.expires_at },
      refused: without(LINK, 'path', 'expires_at'),
    },
  ]);

  it.each([
    [null, `${BASE}/console/#/sign-in/1`],
    ['https://gateway.acme.test', 'https://gateway.acme.test/console/#/sign-in/1'],
    ['https://acme.test/gateway/', 'https://acme.test/gateway/console/#/sign-in/1'],
  ])('lead to the address that the gateway tells: %s', async (url, href) => {
    const { client } = connect([{ ...LINK, url }]);
    expect((await client.console.createLink()).href).toBe(href);
  });
});
