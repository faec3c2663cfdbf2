import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { PacedRequest } from '../../../src/server/bodies/paced-request.ts';

const CHUNKS = 400_000;
/** Of a framed byte. */
const CHUNK = '1\r\nx\r\n';
/** Most that a socket reads at once. */
const READ_BYTES = 64 * 1024;

/** Largest number of chunks that came between two turns of the event loop, and of all. */
function countChunks(request: PacedRequest): { most: number; all: number; end(): void } {
  const counts = { most: 0, all: 0, end: () => void (isOver = true) };
  let isOver = false;
  let inTurn = 0;
  const push = request.push.bind(request);
  request.push = (chunk, encoding) => {
    if (chunk !== null) counts.all++;
    counts.most = Math.max(counts.most, ++inTurn);
    return push(chunk, encoding);
  };
  const turn = (): void => {
    inTurn = 0;
    if (!isOver) setImmediate(turn);
  };
  turn();
  return counts;
}

const READERS: readonly [string, (request: PacedRequest) => Promise<unknown>][] = [
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

it.each(READERS)('takes a body of very many chunks in turns with others: %s', async (_by, read) => {
  const server = createServer({ IncomingMessage: PacedRequest });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  socket.write('POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n');
  const [request, response] = (await once(server, 'request')) as [PacedRequest, ServerResponse];
  const counts = countChunks(request);
  socket.write(`${CHUNK.repeat(CHUNKS)}0\r\n\r\n`);
  await read(request);
  counts.end();
  response.end();
  expect(counts.all).toBe(CHUNKS);
  expect(counts.most).toBeLessThanOrEqual((2 * READ_BYTES) / CHUNK.length);
});
