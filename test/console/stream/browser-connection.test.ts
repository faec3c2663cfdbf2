import { expect, it } from 'vitest';
import { browserConnection } from '../../../src/console/stream/browser-connection.ts';

const never = new AbortController().signal;

/** Addresses that were fetched, and how. */
function setUp() {
  const asked: [string, RequestInit | undefined][] = [];
  const connection = browserConnection(async (url, init) => {
    asked.push([String(url), init]);
    return new Response('');
  });
  return { connection, asked };
}

it('asks for events behind the last one of a session, with the cookie of the console and past every cache', async () => {
  const { connection, asked } = setUp();
  const url = '/v1/sessions/s/events';
  await connection.open({ url, session: 'a' }, '7', never);
  await connection.open({ url, session: '' }, undefined, never);
  const same = { signal: never, credentials: 'same-origin', cache: 'no-store' };
  expect(asked).toEqual([
    [
      '/console/api/v1/sessions/s/events',
      {
        ...same,
        headers: {
          accept: 'text/event-stream',
          'x-gateway-console-session': 'a',
          'last-event-id': '7',
        },
      },
    ],
    ['/console/api/v1/sessions/s/events', { ...same, headers: { accept: 'text/event-stream' } }],
  ]);
});

it('wakes when its time is over', async () => {
  const { connection } = setUp();
  await expect(connection.sleep(0, never)).resolves.toBeUndefined();
});

it('wakes at once when it is told to end', async () => {
  const { connection } = setUp();
  const controller = new AbortController();
  const sleep = connection.sleep(86_400_000, controller.signal);
  controller.abort();
  await expect(sleep).resolves.toBeUndefined();
});
