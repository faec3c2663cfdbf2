import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { Readable, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createPassthroughHandler } from '../../src/apis/passthrough-handlers.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { createSpools } from '../../src/core/memory/spool.ts';
import type { PipeableBody } from '../../src/inference/types.ts';
import type { HttpExchange } from '../../src/surfaces/http-exchange.ts';
import { UpstreamError } from '../../src/upstream/transport.ts';
import type { UpstreamRequest, UpstreamSink } from '../../src/upstream/transport.ts';
import { bodySource, roomyBudget } from '../support/body-intake.ts';
import { keyring } from '../server/routes/handler-calls.ts';
import { fakeCatalog } from '../support/catalog.ts';
import { inferenceBench } from '../support/inference.ts';
import { makeApi } from './make-api.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Asked {
  readonly path?: string;
  readonly search?: string;
  readonly method?: string;
}

/** A call of an API with a body of a length that is not said. */
function setUp({ path = '/v1/api/acme/v2/things', search = '', method = 'POST' }: Asked = {}) {
  const { deps: inference, clock, outcomes, refusals } = inferenceBench();
  const api = makeApi({}, { pricing: { perCall: 5 } });
  const sent: { request: UpstreamRequest; sink: UpstreamSink; isAborted: boolean }[] = [];
  const ring = keyring();
  const handle = createPassthroughHandler({
    ...ring,
    inference,
    catalog: () => ({ ...fakeCatalog(), apis: new Map([[api.name, api]]) }),
    spools: createSpools(tmpdir(), createIdSource(clock)),
    transportToApi: () => ({
      send(asked, sink) {
        const call = { request: asked, sink, isAborted: false };
        sent.push(call);
        const idle = (): void => undefined;
        return { abort: () => void (call.isAborted = true), pause: idle, resume: idle };
      },
      close: async () => undefined,
    }),
  });
  const request = Object.assign(Readable.from([Buffer.from('{}')]), {
    method,
    headers: { authorization: 'Bearer sk-1', 'transfer-encoding': 'chunked' },
  }) as unknown as IncomingMessage;
  const response = Object.assign(new EventEmitter(), {
    closed: false,
    destroyed: false,
    writableEnded: false,
    writableFinished: false,
    heads: 0,
    flushHeaders: () => void response.heads++,
    destroy: () => void (response.destroyed = true),
  });
  const { intake } = bodySource(request, response as unknown as ServerResponse, roomyBudget());
  const exchange: HttpExchange = {
    id: 'req_1',
    at: 0,
    startedAt: 0,
    request,
    response: response as unknown as ServerResponse,
    intake,
    path,
    search,
  };
  const begin = async () => {
    const answer = handle(exchange);
    answer.catch(() => undefined);
    while (sent.length === 0) await turn();
    return { answer, call: sent[0]! };
  };
  const leave = (): void => {
    [response.destroyed, response.closed] = [true, true];
    response.emit('close');
  };
  return {
    handle: () => handle(exchange),
    begin,
    leave,
    outcomes,
    refusals,
    sent,
    response,
    held: () => intake.held,
    inFlight: () => ring.inside.now,
  };
}

/** Reads an answer as a client does. */
function toClient(reply: object): () => string {
  const chunks: Buffer[] = [];
  const client = new Writable({
    write(bytes: Buffer, _encoding, done) {
      chunks.push(bytes);
      done();
    },
  });
  (reply as { body: PipeableBody }).body.pipe(client);
  return () => Buffer.concat(chunks).toString();
}

describe('a call of an API by path', () => {
  it('goes to the same path with the same query, and its answer comes back', async () => {
    const { begin, outcomes, response } = setUp({
      path: '/v1/api/acme/v2/a%20b',
      search: '?q=1%2C2&q=',
    });
    const { answer, call } = await begin();
    expect(String(call.request.url)).toBe('https://api.example/base/v2/a%20b?q=1%2C2&q=');
    expect(call.request.method).toBe('POST');
    call.sink.onHead(201, { 'content-type': 'text/plain', 'content-length': '2' });
    const reply = await answer;
    expect(reply).toMatchObject({ type: 'stream', status: 201 });
    const text = toClient(reply);
    expect([text(), response.heads]).toEqual(['', 1]);
    call.sink.onData(Buffer.from('ok'));
    call.sink.onEnd();
    await turn();
    expect(text()).toBe('ok');
    expect(outcomes).toMatchObject([{ status: 201, result: 'ok', cost: 5 }]);
  });

  it('has no stream where the status allows no body', async () => {
    const { begin } = setUp();
    const { answer, call } = await begin();
    call.sink.onHead(204, {});
    call.sink.onEnd();
    expect(await answer).toEqual({ status: 204, headers: {} });
  });

  it('gives the memory of its body back when it is settled, and its place when the response is closed', async () => {
    const { begin, leave, held, inFlight } = setUp();
    const { answer, call } = await begin();
    expect([held() > 0, inFlight()]).toEqual([true, 1]);
    call.sink.onHead(200, {});
    toClient(await answer);
    call.sink.onEnd();
    await turn();
    expect([held(), inFlight()]).toEqual([0, 1]);
    leave();
    expect(inFlight()).toBe(0);
  });

  it('gives both back when it fails', async () => {
    const { begin, leave, held, inFlight } = setUp();
    const { answer, call } = await begin();
    call.sink.onError(new UpstreamError('reset', 'reset'));
    await expect(answer).rejects.toMatchObject({ code: 'upstream_interrupted', status: 502 });
    expect(held()).toBe(0);
    leave();
    expect(inFlight()).toBe(0);
  });

  it('is broken off at the client where the answer breaks off', async () => {
    const { begin, response } = setUp();
    const { answer, call } = await begin();
    call.sink.onHead(200, { 'content-length': '6' });
    toClient(await answer);
    call.sink.onData(Buffer.from('abc'));
    call.sink.onError(new UpstreamError('reset', 'reset'));
    await turn();
    expect(response.destroyed).toBe(true);
  });

  it.each([
    ['/v1/api/', 'no such path'],
    ['/v1/api/%E0', 'no such path'],
  ])('is not found at %s', async (path, message) => {
    const { handle, sent, refusals } = setUp({ path });
    await expect(handle()).rejects.toMatchObject({ code: 'not_found', status: 404, message });
    expect([sent, refusals]).toEqual([[], []]);
  });

  it('is recorded as refused where the API is unknown, with its name decoded', async () => {
    const { handle, sent, refusals } = setUp({ path: '/v1/api/who%20knows/a' });
    await expect(handle()).rejects.toMatchObject({ code: 'not_found', status: 404 });
    expect(sent).toEqual([]);
    expect(refusals).toMatchObject([{ id: 'req_1', surface: 'api', model: 'who knows' }]);
  });
});
