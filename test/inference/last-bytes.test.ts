import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runInference } from '../../src/inference/run-inference.ts';
import type { CallResult, InferenceRequest } from '../../src/inference/types.ts';
import { chat } from '../../src/protocols/chat/chat.ts';
import type { Estimate } from '../../src/usage/ledger/ledger.ts';
import { fakeAccount, fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { chatBody, chunk, COMPLETION } from '../support/chat.ts';
import { inferenceBench } from '../support/inference.ts';
import { principal } from '../usage/usage-fixtures.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const PRICED = fakeRoute('a', {
  pricing: { input: 100, output: 200 },
  provider: fakeAccount('a'),
});

/** A call whose settlement is durable once `pay` is called; without `isLimited` at once. */
function setUp({ stream = false, isLimited = true, name = 'acme/fast' } = {}) {
  let pay!: () => void;
  const settled = new Promise<void>((resolve) => (pay = resolve));
  const bench = inferenceBench(isLimited ? { settled } : {});
  const body = Buffer.from(chatBody(name, { stream }));
  const request: InferenceRequest = {
    id: 'req_1',
    at: bench.clock.now(),
    startedAt: bench.clock.monotonic(),
    surface: 'chat',
    protocol: chat,
    headers: {},
    address: {},
    principal: principal(),
    catalog: fakeCatalog(fakeModel('acme/fast', [PRICED])),
    body,
    client: { gone: false, onGone: () => () => undefined },
    repeatable: true,
  };
  let result: CallResult | undefined;
  const answer = runInference(request, bench.deps).then((given) => (result = given));
  answer.catch(() => undefined);
  return { ...bench, answer, pay, result: () => result, body };
}

/** What a client has got of a stream. */
function read(result: CallResult): { text(): string; isOver(): boolean } {
  if (result.type !== 'stream') throw new Error('no stream');
  const chunks: Buffer[] = [];
  const client = new Writable({
    write(bytes: Buffer, _encoding, done) {
      chunks.push(bytes);
      done();
    },
  });
  result.body.pipe(client);
  return { text: () => Buffer.concat(chunks).toString(), isOver: () => client.writableEnded };
}

const EVENT = { 'content-type': 'text/event-stream' };
const DONE = 'data: [DONE]\n\n';
const finished = chunk({}, 'stop');

describe('the last bytes under a spending limit', () => {
  it('of a whole answer wait for its settlement', async () => {
    const { sent, answer, result, outcomes, pay } = setUp();
    sent[0]?.sink.onHead(200, { 'content-type': 'application/json' });
    sent[0]?.sink.onData(Buffer.from(JSON.stringify(COMPLETION)));
    sent[0]?.sink.onEnd();
    await turn();
    expect(outcomes).toHaveLength(1);
    expect(result()).toBeUndefined();
    pay();
    expect(await answer).toMatchObject({ type: 'body', status: 200 });
  });

  it('of an error wait for what it gives back', async () => {
    const { sent, answer, outcomes, pay } = setUp();
    let isTold = false;
    answer.catch(() => (isTold = true));
    sent[0]?.sink.onHead(400, {});
    sent[0]?.sink.onEnd();
    await turn();
    expect(outcomes).toHaveLength(1);
    expect(isTold).toBe(false);
    pay();
    await expect(answer).rejects.toMatchObject({ code: 'upstream_rejected' });
  });

  it.each([
    ['with its end marker', [chunk({ content: 'hi' }) + finished, DONE], chunk({ content: 'hi' })],
    ['in one piece with all', [chunk({ content: 'hi' }) + finished + DONE], ''],
    [
      'without a marker of its own',
      [chunk({ content: 'hi' }) + finished],
      chunk({ content: 'hi' }),
    ],
  ])('of a stream wait for its settlement, %s', async (_, pieces, first) => {
    const { sent, answer, outcomes, pay } = setUp({ stream: true });
    sent[0]?.sink.onHead(200, EVENT);
    for (const piece of pieces) sent[0]?.sink.onData(Buffer.from(piece));
    if (!pieces.join('').includes(DONE)) sent[0]?.sink.onEnd();
    const client = read(await answer);
    await turn();
    expect(outcomes).toMatchObject([{ result: 'ok' }]);
    expect(client.text().startsWith(first)).toBe(true);
    expect(client.text()).not.toContain(DONE);
    expect(client.isOver()).toBe(false);
    pay();
    await turn();
    expect(client.text()).toBe(chunk({ content: 'hi' }) + finished + DONE);
    expect(client.isOver()).toBe(true);
  });

  it('of a stream that breaks off wait for its settlement', async () => {
    const { sent, answer, outcomes, pay } = setUp({ stream: true });
    sent[0]?.sink.onHead(200, EVENT);
    sent[0]?.sink.onData(Buffer.from(chunk({ content: 'hi' })));
    const client = read(await answer);
    sent[0]?.sink.onEnd();
    await turn();
    expect(outcomes).toMatchObject([{ result: 'interrupted' }]);
    expect(client.text()).not.toContain('error');
    expect(client.isOver()).toBe(false);
    pay();
    await turn();
    expect(client.text()).toContain('error');
    expect(client.isOver()).toBe(true);
  });

  it('do not wait without a limit', async () => {
    const { sent, answer } = setUp({ stream: true, isLimited: false });
    sent[0]?.sink.onHead(200, EVENT);
    sent[0]?.sink.onData(Buffer.from(chunk({ content: 'hi' }) + finished + DONE));
    const client = read(await answer);
    expect(client.text()).toContain(DONE);
    expect(client.isOver()).toBe(true);
  });
});

describe('the cost that is known while a call runs', () => {
  it('is that of the prompt at first, then that of what the client was sent, too', async () => {
    const { sent, answer, starts, followed, body } = setUp({ stream: true });
    const input = Math.ceil(body.length / 4);
    expect(starts[0]?.estimate).toEqual({ input, output: 0, cost: input * 100 });
    sent[0]?.sink.onHead(200, EVENT);
    sent[0]?.sink.onData(Buffer.from(chunk({ content: 'x'.repeat(40) })));
    await answer;
    const soFar = followed[0]?.() as Estimate;
    expect(soFar.output).toBeGreaterThanOrEqual(10);
    expect(soFar).toEqual({
      input,
      output: soFar.output,
      cost: input * 100 + soFar.output * 200,
    });
    sent[0]?.sink.onData(Buffer.from(chunk({ content: 'x'.repeat(400) })));
    expect(followed[0]?.().output).toBe(soFar.output + 100);
  });
});
