import { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { receiveBody } from '../../src/apis/receive-body.ts';
import type { ReceiveOptions } from '../../src/apis/receive-body.ts';
import type { Spools } from '../../src/core/memory/spool.ts';
import type { SpooledBody } from '../../src/core/memory/spooled-body.ts';
import type { BodySource } from '../../src/surfaces/read-body.ts';

const KIB = 1024;

/** Spools in memory; `disposed` counts those that were given back. */
function spoolsOf(failure?: Error) {
  const state = { made: 0, disposed: 0 };
  const spools: Spools = {
    create() {
      state.made++;
      const chunks: Buffer[] = [];
      return {
        get length() {
          return Buffer.concat(chunks).length;
        },
        async write(chunk) {
          if (failure) throw failure;
          chunks.push(chunk);
        },
        async *open() {
          yield* chunks;
        },
        dispose: async () => void state.disposed++,
      };
    },
  };
  return { state, spools };
}

interface Sent {
  chunks?: string[];
  headers?: IncomingHttpHeaders;
  /** The client stops behind what it has sent. */
  isCut?: boolean;
}

function setUp({ chunks = [], headers = {}, isCut = false }: Sent, failure?: Error) {
  const stream = Readable.from(
    (async function* bytes() {
      for (const chunk of chunks) yield Buffer.from(chunk);
      if (isCut) throw new Error('aborted');
    })(),
  );
  const request = Object.assign(stream, { headers, complete: false }) as unknown as IncomingMessage;
  const asked: string[] = [];
  const intake = {
    reserve: (holder: string, bytes: number) => void asked.push(`${holder} ${bytes}`),
    invite: () => void asked.push('invite'),
  } as Partial<BodySource['intake']> as BodySource['intake'];
  const { state, spools } = spoolsOf(failure);
  const receive = (more: Partial<ReceiveOptions> = {}) =>
    receiveBody({ request, intake }, { limit: 10, holder: 'key_1', spools, whole: true, ...more });
  return { request, asked, state, receive };
}

async function textOf(body: SpooledBody | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body?.open() ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('the body of a call to an API', () => {
  it.each([{}, { 'content-length': '0' }])(
    'is none where none is announced: %j',
    async (headers) => {
      const { receive, state, asked } = setUp({ headers });
      const { body, dispose } = await receive();
      expect([body, state.made, asked]).toEqual([undefined, 0, []]);
      await dispose();
    },
  );

  it('is sent on as it comes where its length is known', async () => {
    const { receive, state, asked } = setUp({
      chunks: ['abc', 'de'],
      headers: { 'content-length': '5' },
    });
    const { body, dispose } = await receive({ whole: false });
    expect([body?.length, asked, state.made]).toEqual([5, [], 0]);
    expect(await textOf(body)).toBe('abcde');
    expect(asked).toEqual(['invite']);
    await dispose();
  });

  it('is all here first where it is to be signed', async () => {
    const { receive, state, asked } = setUp({
      chunks: ['abc', 'de'],
      headers: { 'content-length': '5' },
    });
    const { body, dispose } = await receive();
    expect([body?.length, asked]).toEqual([5, ['key_1 5', 'invite']]);
    expect(await textOf(body)).toBe('abcde');
    await dispose();
    expect(state).toEqual({ made: 1, disposed: 1 });
  });

  it('is all here first where its length is not known, and asks for room up to its bound', async () => {
    const headers = { 'transfer-encoding': 'chunked' };
    for (const [limit, room] of [
      [10, 10],
      [256 * KIB - 1, 256 * KIB - 1],
      [300 * KIB, 256 * KIB],
    ]) {
      const { receive, asked } = setUp({ chunks: ['abc'], headers });
      const { body } = await receive({ whole: false, limit: limit ?? 0 });
      expect([body?.length, asked]).toEqual([3, [`key_1 ${room}`, 'invite']]);
    }
  });

  it('is none where nothing came, however it was announced', async () => {
    const { receive, state } = setUp({ headers: { 'transfer-encoding': 'chunked' } });
    const { body, dispose } = await receive();
    expect([body, state]).toEqual([undefined, { made: 1, disposed: 0 }]);
    await dispose();
    expect(state.disposed).toBe(1);
  });

  it('may be as long as its bound, and no byte longer', async () => {
    const headers = { 'transfer-encoding': 'chunked' };
    const whole = setUp({ chunks: ['x'.repeat(9), 'x'], headers });
    expect((await whole.receive()).body?.length).toBe(10);
    const longer = setUp({ chunks: ['x'.repeat(9), 'xx'], headers });
    await expect(longer.receive()).rejects.toMatchObject({ code: 'body_too_large' });
    expect(longer.state.disposed).toBe(1);
  });

  it('is refused unread where more is announced', async () => {
    const { receive, state, asked } = setUp({ headers: { 'content-length': '11' } });
    await expect(receive()).rejects.toMatchObject({ code: 'body_too_large' });
    expect([state.made, asked]).toEqual([0, []]);
  });

  it.each([true, false])(
    'is cut off where the client stops in the middle, whole: %s',
    async (whole) => {
      const { receive, state } = setUp({
        chunks: ['ab'],
        headers: { 'content-length': '5' },
        isCut: true,
      });
      const received = (async () => textOf((await receive({ whole })).body))();
      await expect(received).rejects.toMatchObject({
        code: 'invalid_request',
        message: 'the request body was cut off',
      });
      expect(state.disposed).toBe(whole ? 1 : 0);
    },
  );

  it('gives back what it took where there is no room on the disk', async () => {
    const failure = new Error('no space left');
    const { receive, state } = setUp(
      { chunks: ['abc'], headers: { 'content-length': '3' } },
      failure,
    );
    await expect(receive()).rejects.toBe(failure);
    expect(state.disposed).toBe(1);
  });

  it('waits for room, and is given up where there is none', async () => {
    const { request, state } = setUp({ chunks: ['abc'], headers: { 'content-length': '3' } });
    const full = new Error('no room');
    const intake = { reserve: () => Promise.reject(full) } as unknown as BodySource['intake'];
    const { spools, state: own } = spoolsOf();
    const options = { limit: 10, holder: 'key_1', spools, whole: true };
    await expect(receiveBody({ request, intake }, options)).rejects.toBe(full);
    expect([own.disposed, state.made]).toEqual([1, 0]);
  });

  it('lets go of what nobody read, once, and of nothing where it is complete', async () => {
    const headers = { 'content-length': '5' };
    const unread = setUp({ chunks: ['abcde'], headers });
    const { dispose } = await unread.receive({ whole: false });
    await dispose();
    await dispose();
    expect(unread.request.listenerCount('data')).toBe(1);
    const complete = setUp({ chunks: ['abcde'], headers });
    const received = await complete.receive({ whole: false });
    complete.request.complete = true;
    await received.dispose();
    expect(complete.request.listenerCount('data')).toBe(0);
  });
});
