import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Spool } from '../../src/core/spool.ts';
import { fromBytes } from '../../src/core/spooled-body.ts';
import { isForm, readForm } from '../../src/surfaces/read-form.ts';
import { formText } from '../support/form-text.ts';

const FORM = formText('b0', [
  { name: 'model', content: 'grün' },
  { name: 'image', filename: 'a', type: 'image/png', content: 'bytes' },
]);

/** A request whose head has arrived and whose body is still to come. */
let request: IncomingMessage;
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
  [request] = (await once(server, 'request')) as [IncomingMessage];
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

it('gives the parts with the texts of the fields, and the bytes as they came', async () => {
  const { spools, chunks, dispose } = fakeSpool();
  const reading = readForm(request, { limit: 1000, spools });
  for (const byte of FORM.subarray(0, 80)) {
    socket.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket.write(FORM.subarray(80));
  const form = await reading;
  expect(form.parts.map(({ name, value }) => [name, value])).toEqual([
    ['model', 'grün'],
    ['image', undefined],
  ]);
  expect(Buffer.concat(chunks).equals(FORM)).toBe(true);
  expect(dispose).not.toHaveBeenCalled();
  await form.dispose();
  expect(dispose).toHaveBeenCalledOnce();
});

it('takes no more in than the spool has room for', async () => {
  let goOn: () => void = () => undefined;
  const { spools, chunks } = fakeSpool(() => new Promise((resolve) => (goOn = resolve)));
  const reading = readForm(request, { limit: 1000, spools });
  socket.write(FORM.subarray(0, 50));
  await vi.waitFor(() => expect(chunks).toHaveLength(1));
  socket.write(FORM.subarray(50));
  await vi.waitFor(() => expect(request.readableLength).toBeGreaterThan(0));
  expect(chunks).toHaveLength(1);
  goOn();
  await vi.waitFor(() => expect(chunks).toHaveLength(2));
  goOn();
  await reading;
});

it.each([
  ['the client leaves', 'invalid_request', () => socket.destroy()],
  ['it is malformed', 'invalid_request', () => socket.write(Buffer.alloc(200, 'x'))],
])('gives the spool back when %s', async (_, code, then) => {
  const { spools, dispose, chunks } = fakeSpool();
  const reading = readForm(request, { limit: 1000, spools });
  const refused = expect(reading).rejects.toMatchObject({ code });
  socket.write(FORM.subarray(0, 50));
  await vi.waitFor(() => expect(chunks).toHaveLength(1));
  then();
  await refused;
  expect(dispose).toHaveBeenCalledOnce();
});

it('says that it could not be kept when there is no room, and leaves the connection open', async () => {
  const { spools, dispose } = fakeSpool(() => Promise.reject(new Error('disk full')));
  const reading = readForm(request, { limit: 1000, spools });
  const refused = expect(reading).rejects.toMatchObject({
    code: 'persistence_failed',
    status: 500,
  });
  socket.write(FORM.subarray(0, 50));
  await refused;
  expect(dispose).toHaveBeenCalledOnce();
  socket.write(FORM.subarray(50));
  await once(request, 'end');
  expect(socket.destroyed).toBe(false);
});

it('refuses at once what is announced as too large', async () => {
  const { spools } = fakeSpool();
  const reading = readForm(request, { limit: FORM.length - 1, spools });
  await expect(reading).rejects.toMatchObject({ code: 'body_too_large' });
});

it('knows a form by its content type', () => {
  const typed = (type?: string) => isForm({ headers: { 'content-type': type } } as IncomingMessage);
  expect(typed('Multipart/Form-Data; boundary=x')).toBe(true);
  expect(typed('multipart/form-data')).toBe(true);
  for (const other of [undefined, 'multipart/form-data-x', 'application/json', 'multipart/mixed'])
    expect(typed(other)).toBe(false);
});
