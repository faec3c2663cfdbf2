import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createPacedRequest } from '../../../src/server/bodies/paced-request.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const CHUNKS = 100_000;
/** A framed byte. */
const CHUNK = '1\r\nx\r\n';
/** Chunks of one read of a socket (64 KiB), and the end of the one before. */
const MOST = Math.ceil((64 * 1024) / CHUNK.length) + 256;

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

async function startServer() {
  const clock = createFakeClock();
  const server = createServer({ IncomingMessage: createPacedRequest(clock) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const send = async (body: string, framing = 'transfer-encoding: chunked') => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(`POST / HTTP/1.1\r\nhost: localhost\r\n${framing}\r\n\r\n`);
    const [request, response] = (await once(server, 'request')) as [
      IncomingMessage,
      ServerResponse,
    ];
    onTestFinished(() => void response.end());
    const counts = countPushes(request);
    socket.write(body);
    return { request, counts };
  };
  return { clock, send };
}

/** Chunks that came from the socket, whether they were read or not. */
function countPushes(request: IncomingMessage): { chunks: number; bytes: number } {
  const counts = { chunks: 0, bytes: 0 };
  const push = request.push.bind(request);
  request.push = (chunk: unknown, encoding) => {
    if (Buffer.isBuffer(chunk)) {
      counts.chunks++;
      counts.bytes += chunk.length;
    }
    return push(chunk, encoding);
  };
  return counts;
}

const READERS: readonly [string, (request: IncomingMessage) => Promise<unknown>][] = [
  [
    'a listener',
    (request) =>
      once(
        request.on('data', () => undefined),
        'end',
      ),
  ],
  [
    'an iterator',
    async (request) => {
      for await (const _chunk of request);
    },
  ],
];

it.each(READERS)('reads a body of very many chunks in turns: %s', async (_by, read) => {
  const { clock, send } = await startServer();
  const { request, counts } = await send(`${CHUNK.repeat(CHUNKS)}0\r\n\r\n`);
  const state = { isRead: false };
  const reading = read(request).then(() => (state.isRead = true));
  for (let before = 0; !state.isRead; before = counts.chunks) {
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    expect(counts.chunks - before).toBeLessThanOrEqual(MOST);
    clock.advance(20);
  }
  await reading;
  expect(counts.chunks).toBe(CHUNKS);
});

it('shares the turns among all such bodies', async () => {
  const { clock, send } = await startServer();
  const bodies: Awaited<ReturnType<typeof send>>[] = [];
  for (let one = 0; one < 4; one++) bodies.push(await send(CHUNK.repeat(CHUNKS)));
  for (const { request } of bodies) request.resume();
  const all = () => bodies.reduce((sum, { counts }) => sum + counts.chunks, 0);
  for (let turn = 0; turn < 2000; turn++) await nextTurn();
  for (let round = 0; round < 8; round++) {
    const before = all();
    clock.advance(20);
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    expect(all() - before).toBeLessThanOrEqual(MOST);
  }
  expect(bodies.every(({ counts }) => counts.chunks > MOST)).toBe(true);
});

it('reads little of many large bodies in one turn of the event loop', async () => {
  const { send } = await startServer();
  const length = 4 * 1024 * 1024;
  const bodies: Awaited<ReturnType<typeof send>>[] = [];
  for (let one = 0; one < 6; one++)
    bodies.push(await send('x'.repeat(length), `content-length: ${length}`));
  const ends = bodies.map(({ request }) => once(request.resume(), 'end'));
  const state = { isRead: false };
  const reading = Promise.all(ends).then(() => (state.isRead = true));
  const all = () => bodies.reduce((sum, { counts }) => sum + counts.bytes, 0);
  let most = 0;
  for (let before = all(); !state.isRead; before = all()) {
    await nextTurn();
    most = Math.max(most, all() - before);
  }
  await reading;
  expect(all()).toBe(bodies.length * length);
  expect(most).toBeLessThanOrEqual((8 + bodies.length) * 64 * 1024);
});

it('keeps no more of a body that nobody reads than Node does', async () => {
  const { send } = await startServer();
  const length = 8 * 1024 * 1024;
  const { request, counts } = await send('x'.repeat(length), `content-length: ${length}`);
  request.once('data', () => request.pause());
  for (let turn = 0; turn < 200; turn++) await nextTurn();
  expect(counts.bytes).toBeLessThanOrEqual(4 * 64 * 1024);
});

it('never holds back a body of usual chunks', async () => {
  const { send } = await startServer();
  const length = 8 * 1024 * 1024;
  const { request } = await send('x'.repeat(length), `content-length: ${length}`);
  let read = 0;
  request.on('data', (chunk: Buffer) => (read += chunk.length));
  await once(request, 'end');
  expect(read).toBe(length);
});
