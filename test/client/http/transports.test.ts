import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client/create-client.ts';
import { sendWithNode } from '../../../src/client/http/node-transport.ts';
import { startFakeServer, type FakeServer, type Handler } from '../fake-server.ts';
import { instantClock } from '../instant-clock.ts';

let server: FakeServer | undefined;
afterEach(() => server?.close());

async function open(handler: Handler, options: object) {
  server = await startFakeServer(handler);
  const client = createClient({ baseUrl: server.url, clock: instantClock(), ...options });
  return { client, calls: server.calls };
}

describe.each([
  ['fetch', {}],
  ['the HTTP client of Node.js', { transport: sendWithNode }],
])('calls with %s', (_, options) => {
  it('send a body and read status, headers and body of the answer', async () => {
    const { client, calls } = await open(
      () => ({ status: 202, body: { name: 'ö' }, headers: { 'x-request-id': 'req_1' } }),
      options,
    );
    const answer = await client.raw({ method: 'POST', path: '/x', body: { text: 'ä' } });
    expect(answer).toMatchObject({ status: 202, requestId: 'req_1' });
    expect(JSON.parse(answer.body)).toEqual({ name: 'ö' });
    expect(calls[0]).toMatchObject({ method: 'POST', path: '/x', body: { text: 'ä' } });
  });

  it('follow no redirect', async () => {
    const { client, calls } = await open(
      () => ({ status: 302, body: {}, headers: { location: '/elsewhere' } }),
      options,
    );
    await expect(client.raw({ method: 'GET', path: '/x' })).rejects.toMatchObject({ status: 302 });
    expect(calls).toHaveLength(1);
  });

  it('tell a server that is not there from one that fails', async () => {
    const { client } = await open(() => ({ body: {} }), { ...options, retry: { maxAttempts: 1 } });
    await server?.close();
    server = undefined;
    await expect(client.raw({ method: 'GET', path: '/x' })).rejects.toMatchObject({
      code: 'unreachable',
    });
  });

  it('end when they are aborted', async () => {
    const { client } = await open(() => ({ body: {} }), options);
    const call = { method: 'GET', path: '/x', signal: AbortSignal.abort() };
    await expect(client.raw(call)).rejects.toMatchObject({ code: 'aborted' });
  });
});

it('sends a form with fetch, whatever sends the other calls', async () => {
  const sent: unknown[] = [];
  const options = {
    transport: () => Promise.reject(new Error('no form')),
    fetch: async (...call: unknown[]) => {
      sent.push(call);
      return new Response('{}');
    },
  };
  const { client } = await open(() => ({ body: {} }), options);
  const form = new FormData();
  await client.raw({ method: 'POST', path: '/x', form });
  expect(sent).toEqual([[expect.stringContaining('/x'), expect.objectContaining({ body: form })]]);
});
