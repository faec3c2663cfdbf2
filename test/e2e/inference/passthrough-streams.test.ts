import { once } from 'node:events';
import { createServer, request as openRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../src/usage/requests/request-record.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { openRaw } from '../../support/raw-client.ts';

/** One call as the API gets it, while it gets it. */
interface Incoming {
  request: IncomingMessage;
  response: ServerResponse;
}

const MEGABYTE = Buffer.alloc(1024 * 1024, 7);

describe('a call to an API', () => {
  const server = createServer((request, response) => {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    calls.push({ request, response });
  });
  const calls: Incoming[] = [];
  let gateway: TestGateway;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const api = (name: string, rest: object = {}): object => ({
      name,
      base_url: `http://127.0.0.1:${port}`,
      auth: { type: 'none' },
      pricing: { per_call: '1' },
      ...rest,
    });
    gateway = await startGateway(
      {
        server: { limits: { body: '24MiB' } },
        apis: [
          api('acme'),
          api('nervous', { timeouts: { idle: '300ms' } }),
          api('counted', {
            pricing: { output: '1' },
            usage: { output: { field: '$.usage.out', most: 1000 } },
          }),
          api('signed', {
            auth: { type: 'signature', key_id: 'k' },
            api_key: '${secret:env:SIGNING}',
          }),
        ],
      },
      { env: { SIGNING: 'signing-secret' } },
    );
  });
  afterAll(async () => {
    await gateway.stop();
    server.close();
    server.closeAllConnections();
  });

  /** A request whose body is written by the test. */
  const upload = (path: string, headers: Record<string, string | number>): ClientRequest => {
    const sent = openRequest(`${gateway.url}/v1/api/${path}`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${gateway.clientKey}`, ...headers },
    });
    sent.on('error', () => undefined);
    return sent;
  };
  const answerOf = async (sent: ClientRequest): Promise<{ status: number; body: string }> => {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let body = '';
    for await (const chunk of response) body += String(chunk);
    return { status: response.statusCode ?? 0, body };
  };
  const nextCall = async (before: number): Promise<Incoming> => eventually(() => calls[before]);
  const download = (path: string, method = 'GET') =>
    openRaw(`${gateway.url}/v1/api/${path}`, { method, key: gateway.clientKey });
  const lastRecord = (status: number): Promise<RequestRecord> =>
    eventually(async () => {
      const { body } = await gateway.admin('GET', `/admin/v1/requests?limit=1`);
      const [record] = body.data as RequestRecord[];
      return record?.status === status ? record : undefined;
    });

  it(verifies('passthrough.response', 'gives each piece of an answer when it comes'), async () => {
    const before = calls.length;
    const opening = download('acme/events');
    const { response } = await nextCall(before);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: 1\n\n');
    const stream = await opening;
    await eventually(() => stream.text() === 'data: 1\n\n');
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    response.write('dat');
    await eventually(() => stream.text() === 'data: 1\n\ndat');
    response.end('a: 2\n\n');
    expect(await stream.ended).toEqual({ complete: true });
    expect(stream.text()).toBe('data: 1\n\ndata: 2\n\n');
  });

  it('gives the head of an answer before there is a body', async () => {
    const before = calls.length;
    const opening = download('acme/events');
    const { response } = await nextCall(before);
    const asked = performance.now();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    const stream = await opening;
    expect(performance.now() - asked).toBeLessThan(10_000);
    response.end();
    expect(await stream.ended).toEqual({ complete: true });
  });

  it('gives the API each piece of a body when it comes', async () => {
    const before = calls.length;
    const sent = upload('acme/upload', { 'content-length': 6 });
    sent.write('one');
    const { request, response } = await nextCall(before);
    const [first] = (await once(request, 'data')) as [Buffer];
    expect(first.toString()).toBe('one');
    sent.end('two');
    const [second] = (await once(request, 'data')) as [Buffer];
    expect(second.toString()).toBe('two');
    expect(request.headers['content-length']).toBe('6');
    response.end('done');
    expect(await answerOf(sent)).toEqual({ status: 200, body: 'done' });
  });

  it('takes a body in no faster than the API takes it', async () => {
    const before = calls.length;
    const size = 24;
    const sent = upload('acme/upload', { 'content-length': size * MEGABYTE.length });
    let taken = 0;
    const writeAll = async (): Promise<void> => {
      for (let count = 0; count < size; count++) {
        if (!sent.write(MEGABYTE)) await once(sent, 'drain');
        taken += 1;
      }
      sent.end();
    };
    const writing = writeAll();
    const { request, response } = await nextCall(before);
    // Nobody reads, so what the sockets between can hold is all that goes.
    let seen = -1;
    await eventually(async () => {
      const last = seen;
      seen = taken;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return last === taken;
    });
    expect(taken).toBeLessThan(size);
    let received = 0;
    for await (const chunk of request) received += (chunk as Buffer).length;
    await writing;
    expect(received).toBe(size * MEGABYTE.length);
    response.end('done');
    expect((await answerOf(sent)).status).toBe(200);
  });

  it(
    verifies('stream.backpressure', 'takes an answer in no faster than the client takes it'),
    async () => {
      const before = calls.length;
      const opening = download('acme/large');
      const { response } = await nextCall(before);
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      response.flushHeaders();
      const stream = await opening;
      stream.response.pause();
      let written = 0;
      let isFull = false;
      const writeMore = (): void => {
        isFull = false;
        while (written < 64 && !isFull) {
          isFull = !response.write(MEGABYTE);
          written += 1;
        }
        if (written === 64) response.end();
      };
      response.on('drain', writeMore);
      writeMore();
      let seen = -1;
      await eventually(async () => {
        const last = seen;
        seen = written;
        await new Promise((resolve) => setTimeout(resolve, 100));
        return last === written;
      });
      expect(written).toBeLessThan(48);
      stream.response.resume();
      expect(await stream.ended).toEqual({ complete: true });
      const received = stream.chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
      expect(received).toBe(64 * MEGABYTE.length);
    },
  );

  it('sends a body of unknown length with its length', async () => {
    for (const path of ['acme/upload', 'signed/upload']) {
      const before = calls.length;
      const sent = upload(path, { 'transfer-encoding': 'chunked' });
      sent.write(MEGABYTE);
      sent.end('rest');
      const { request, response } = await nextCall(before);
      let received = 0;
      for await (const chunk of request) received += (chunk as Buffer).length;
      expect(received).toBe(MEGABYTE.length + 4);
      expect(request.headers['content-length']).toBe(String(received));
      expect(request.headers).not.toHaveProperty('transfer-encoding');
      response.end('done');
      expect((await answerOf(sent)).status).toBe(200);
    }
  });

  it(
    verifies('errors.status.413-body-limit', 'is refused for a body over the limit, unsent'),
    async () => {
      const before = calls.length;
      const declared = upload('acme/upload', { 'content-length': 25 * MEGABYTE.length });
      declared.flushHeaders();
      const refused = await answerOf(declared);
      expect(refused.status).toBe(413);
      expect(JSON.parse(refused.body)).toEqual({ error: expect.any(String) });
      declared.destroy();
      const chunked = upload('acme/upload', { 'transfer-encoding': 'chunked' });
      for (let count = 0; count < 25; count++) chunked.write(MEGABYTE);
      expect((await answerOf(chunked)).status).toBe(413);
      chunked.destroy();
      expect(calls).toHaveLength(before);
    },
  );

  it('gives the answer of an API that does not wait for the whole body', async () => {
    const before = calls.length;
    const sent = upload('acme/upload', { 'content-length': MEGABYTE.length });
    sent.write('first');
    const { response } = await nextCall(before);
    response.writeHead(422, { 'content-type': 'text/plain' }).end('not like this');
    expect(await answerOf(sent)).toEqual({ status: 422, body: 'not like this' });
    sent.destroy();
  });

  it(
    verifies('stream.client-abort.cancels-upstream', 'ends at the API when the client leaves'),
    async () => {
      const waiting = calls.length;
      const sent = upload('acme/slow', { 'content-length': 1 });
      sent.end('x');
      const first = await nextCall(waiting);
      const closed = once(first.response, 'close');
      sent.destroy();
      await closed;
      expect(await lastRecord(499)).toMatchObject({ result: 'aborted', cost: '0.00' });

      const uploading = calls.length;
      const partial = upload('acme/upload', { 'content-length': 100 });
      partial.write('a part');
      const half = await nextCall(uploading);
      const gone = once(half.response, 'close');
      partial.destroy();
      await gone;
      const aborted = await lastRecord(499);
      expect(aborted).toMatchObject({ result: 'aborted', cost: '0.00' });

      const reading = calls.length;
      const opening = download('acme/endless');
      const second = await nextCall(reading);
      second.response.write('some');
      const stream = await opening;
      const ended = once(second.response, 'close');
      stream.destroy();
      await ended;
      // What had begun to be answered is paid for.
      const charged = await eventually(async () => {
        const record = await lastRecord(499);
        return record.cost === '1.00' ? record : undefined;
      });
      expect(charged).toMatchObject({ result: 'aborted', attempts: [{ outcome: 'ok' }] });
    },
  );

  it('breaks off where an answer falls silent', async () => {
    const before = calls.length;
    const opening = download('nervous/silent');
    const { response } = await nextCall(before);
    response.write('some');
    const stream = await opening;
    expect(await stream.ended).toEqual({ complete: false });
    const record = await lastRecord(200);
    expect(record).toMatchObject({ result: 'interrupted', error_code: 'timeout_idle' });
  });

  it('is charged by the last number that a stream of answers told', async () => {
    const before = calls.length;
    const opening = download('counted/events', 'POST');
    const { response } = await nextCall(before);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"usage":{"out":1}}\n\ndata: {"usa');
    response.end('ge":{"out":9}}\n\ndata: [DONE]\n\n');
    const stream = await opening;
    await stream.ended;
    expect(stream.text()).toContain('[DONE]');
    const record = await lastRecord(200);
    expect(record).toMatchObject({ cost: '0.000009', estimated: false });
    expect(record.usage.output_tokens).toBe(9);
  });
});
