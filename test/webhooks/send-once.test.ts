import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createUrlGuard } from '../../src/upstream/guard/url-guard.ts';
import { sendOnce } from '../../src/webhooks/send-once.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const MIB = 1024 * 1024;

/** Sends one message to a receiver that answers so. */
async function send(answer: RequestListener, { allow = true, signal = AbortSignal.any([]) } = {}) {
  const seen: { method: string | undefined; headers: Record<string, unknown>; body: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, headers } = request;
      seen.push({ method, headers, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const guard = createUrlGuard({ allow: allow ? [host] : [], lookup: async () => ['127.0.0.1'] });
  onTestFinished(async () => {
    await guard.close();
    server.closeAllConnections();
    server.close();
  });
  const clock = createFakeClock();
  const headers = { 'webhook-id': 'msg_1' };
  const message = { url: `http://${host}/x`, headers, body: '{"ü":1}', signal };
  const attempt = await sendOnce(message, { guard, clock });
  return { attempt, seen, at: clock.now() };
}

describe('one attempt to send a message', () => {
  it.each([
    [200, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [300, 'redirect'],
    [307, 'redirect'],
    [399, 'redirect'],
    [400, 'status'],
    [404, 'status'],
    [500, 'status'],
  ])('is judged by its status: %d is %s', async (status, outcome) => {
    const { attempt, at, seen } = await send((_request, response) => {
      response.writeHead(status, { location: 'http://169.254.169.254/' }).end();
    });
    expect(attempt).toEqual({ at, status, outcome, ms: 0 });
    expect(seen).toHaveLength(1);
  });

  it('is a POST of JSON with the headers of the message', async () => {
    const { seen } = await send((_request, response) => void response.end());
    expect(seen).toMatchObject([
      {
        method: 'POST',
        body: '{"ü":1}',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'agent-gateway',
          'webhook-id': 'msg_1',
        },
      },
    ]);
  });

  it('is lost where the receiver hangs up', async () => {
    const { attempt } = await send((request) => void request.socket.destroy());
    expect(attempt).toMatchObject({ status: null, outcome: 'network' });
  });

  it('is given up for an answer of more than a mebibyte', async () => {
    const of = async (bytes: number) => {
      const answer = await send((_request, response) => void response.end(Buffer.alloc(bytes)));
      return answer.attempt.outcome;
    };
    expect([await of(MIB), await of(MIB + 1)]).toEqual(['delivered', 'too_large']);
  });

  it('is refused for an address that may not be called', async () => {
    const { attempt, seen } = await send((_request, response) => void response.end(), {
      allow: false,
    });
    expect([attempt.status, attempt.outcome, seen]).toEqual([null, 'refused', []]);
  });

  it('is none where it is told to stop', async () => {
    const controller = new AbortController();
    const sent = send(() => controller.abort(new Error('stopped')), { signal: controller.signal });
    await expect(sent).rejects.toThrow();
  });
});
