import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ByteBudget } from '../../src/core/memory/byte-budget.ts';
import type { Spool, Spools } from '../../src/core/memory/spool.ts';
import { fromBytes, gatherBody } from '../../src/core/memory/spooled-body.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { isForm, readForm } from '../../src/surfaces/read-form.ts';
import { bodySource, roomyBudget } from '../support/body-intake.ts';
import { formText } from '../support/form-text.ts';

const FORM = formText('b0', [
  { name: 'model', content: 'grün' },
  { name: 'image', filename: 'a', type: 'image/png', content: 'x'.repeat(100) },
  { name: 'mask', filename: 'b', type: 'image/png', content: 'm' },
]);
/** In the middle of the first file. */
const HALF = FORM.indexOf('xxx') + 50;

const read = (spools: Spools, limit = 1000, budget = roomyBudget()) =>
  readForm(bodySource(request, response, budget), {
    limit,
    holder: 'key_1',
    spools,
    boundary: 'own',
  });

/** A request whose head has arrived and whose body is still to come. */
let request: IncomingMessage;
let response: ServerResponse;
let socket: Socket;
let end: () => void;

beforeEach(async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(
    `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${FORM.length}\r\n` +
      'content-type: multipart/form-data; boundary=b0\r\n\r\n',
  );
  [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  end = () => {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  };
});
afterEach(() => end());

/** A spool in memory whose writes the test decides about. */
function fakeSpool(write: (chunk: Buffer) => Promise<void> = async () => undefined) {
  const chunks: Buffer[] = [];
  const dispose = vi.fn(async () => undefined);
  const spool: Spool = {
    get length() {
      return Buffer.concat(chunks).length;
    },
    open: (start, to) => fromBytes(Buffer.concat(chunks)).open(start, to),
    async write(chunk) {
      chunks.push(chunk);
      await write(chunk);
    },
    dispose,
  };
  return { spools: { create: () => spool }, dispose, chunks };
}

it('has the texts of the fields, and the files in the spool until it is disposed of', async () => {
  const { spools, chunks, dispose } = fakeSpool();
  const reading = read(spools);
  for (const byte of FORM.subarray(0, HALF)) {
    socket.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket.write(FORM.subarray(HALF));
  const form = await reading;
  expect(form).toMatchObject({
    boundary: 'own',
    parts: [
      { name: 'model', value: 'grün' },
      { name: 'image', filename: 'a', contentType: 'image/png' },
      { name: 'mask', filename: 'b', contentType: 'image/png' },
    ],
  });
  const contents = form.parts.flatMap((part) => (part.value === undefined ? [part.content] : []));
  expect(await Promise.all(contents.map((content) => gatherBody(content, 1000)))).toEqual([
    Buffer.from('x'.repeat(100)),
    Buffer.from('m'),
  ]);
  expect(Buffer.concat(chunks).toString()).toBe(`${'x'.repeat(100)}m`);
  expect(dispose).not.toHaveBeenCalled();
  await form.dispose();
  expect(dispose).toHaveBeenCalledOnce();
});

it('takes no more in than the spool has room for', async () => {
  let goOn: () => void = () => undefined;
  const { spools, chunks } = fakeSpool(() => new Promise((resolve) => (goOn = resolve)));
  const reading = read(spools);
  socket.write(FORM.subarray(0, HALF));
  await vi.waitFor(() => expect(chunks).toHaveLength(1));
  socket.write(FORM.subarray(HALF));
  await vi.waitFor(() => expect(request.readableLength).toBeGreaterThan(0));
  expect(chunks).toHaveLength(1);
  while (chunks.length < 3) {
    const count = chunks.length;
    goOn();
    await vi.waitFor(() => expect(chunks.length).toBeGreaterThan(count));
  }
  goOn();
  await reading;
});

it('takes nothing in before there is room for it', async () => {
  const budget = new ByteBudget({ clock: systemClock, bytes: 500, waitMs: 9_000, maxWaiting: 1 });
  expect(budget.tryTake({ holder: 'key_2', bytes: 400 })).toBe(true);
  const { spools, chunks } = fakeSpool();
  const reading = read(spools, 1000, budget);
  socket.write(FORM);
  await vi.waitFor(() => expect(request.readableLength).toBeGreaterThan(0));
  // Turns enough for the reader to be loaded, did it not wait.
  await import('../../src/surfaces/form-reader.ts');
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(chunks).toEqual([]);
  budget.giveBack('key_2', 400);
  await reading;
  expect(Buffer.concat(chunks).toString()).toBe(`${'x'.repeat(100)}m`);
});

it.each([
  ['the client leaves', 'invalid_request', () => socket.destroy()],
  ['it is malformed', 'invalid_request', () => socket.write(Buffer.from('\r\n--b0\r\n\r\nx'))],
])('gives the spool back when %s', async (_, code, then) => {
  const { spools, dispose, chunks } = fakeSpool();
  const reading = read(spools);
  const refused = expect(reading).rejects.toMatchObject({ code });
  socket.write(FORM.subarray(0, HALF));
  await vi.waitFor(() => expect(chunks).toHaveLength(1));
  then();
  await refused;
  expect(dispose).toHaveBeenCalledOnce();
});

it('says that it could not be kept when there is no room, and leaves the connection open', async () => {
  const { spools, dispose } = fakeSpool(() => Promise.reject(new Error('disk full')));
  const reading = read(spools);
  const refused = expect(reading).rejects.toMatchObject({
    code: 'persistence_failed',
    status: 500,
  });
  socket.write(FORM.subarray(0, HALF));
  await refused;
  expect(dispose).toHaveBeenCalledOnce();
  socket.write(FORM.subarray(HALF));
  await once(request, 'end');
  expect(socket.destroyed).toBe(false);
});

it('refuses at once what is announced as too large', async () => {
  const { spools } = fakeSpool();
  const reading = read(spools, FORM.length - 1);
  await expect(reading).rejects.toMatchObject({ code: 'body_too_large' });
});

it('knows a form by its content type', () => {
  const typed = (type?: string) => isForm({ headers: { 'content-type': type } } as IncomingMessage);
  expect(typed('Multipart/Form-Data; boundary=x')).toBe(true);
  expect(typed('multipart/form-data')).toBe(true);
  for (const other of [undefined, 'multipart/form-data-x', 'application/json', 'multipart/mixed'])
    expect(typed(other)).toBe(false);
});
