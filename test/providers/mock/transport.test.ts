import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { fromBytes } from '../../../src/core/memory/spooled-body.ts';
import type { SpooledBody } from '../../../src/core/memory/spooled-body.ts';
import type { CassetteInput } from '../../../src/providers/mock/tape/cassette.ts';
import { createMockEngine } from '../../../src/providers/mock/engine.ts';
import { createMockTransport } from '../../../src/providers/mock/transport.ts';
import type { Transport, UpstreamCall, UpstreamSink } from '../../../src/upstream/transport.ts';
import { formText } from '../../support/form-text.ts';
import { verifies } from '../../requirements.ts';
import { toEvents } from './raw-call.ts';
import { createFakeClock } from './fake-clock.ts';

type Reply = NonNullable<CassetteInput['rules']>[number]['reply'];

/** Writes down every call of a sink: `head 200`, `data`, `end`, `error reset`. */
function createRecorder(hooks: { onData?: (count: number) => void } = {}) {
  const log: string[] = [];
  const chunks: Buffer[] = [];
  let settle: () => void;
  const settled = new Promise<void>((resolve) => (settle = resolve));
  const sink: UpstreamSink = {
    onHead: (status) => log.push(`head ${status}`),
    onData(chunk) {
      log.push('data');
      chunks.push(chunk);
      hooks.onData?.(chunks.length);
    },
    onEnd() {
      log.push('end');
      settle();
    },
    onError(error) {
      log.push(`error ${error.kind}`);
      settle();
    },
  };
  return { sink, log, settled, text: () => Buffer.concat(chunks).toString() };
}

function setUp(reply: Reply = {}) {
  const clock = createFakeClock();
  const engine = createMockEngine({ cassette: { rules: [{ reply }] }, clock });
  const transport = createMockTransport(engine, clock);
  return { clock, engine, transport };
}

function ask(transport: Transport, sink: UpstreamSink, stream = true): UpstreamCall {
  return transport.send(
    {
      url: new URL('mock://local/v1/chat/completions?a=1'),
      method: 'POST',
      headers: ['content-type', 'application/json', 'x-a', 'b'],
      body: Buffer.from(
        JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'hello' }] }),
      ),
    },
    sink,
  );
}

describe('mock transport', () => {
  it(verifies('mock.offline', 'plays a script in process: head, data, end'), async () => {
    const { transport, engine } = setUp({ text: 'one two' });
    const { sink, log, settled, text } = createRecorder();
    ask(transport, sink);
    expect(log).toEqual([]);
    await settled;
    expect(log).toEqual(['head 200', ...Array(5).fill('data'), 'end']);
    expect(toEvents(text()).at(-1)).toBe('[DONE]');
    expect(engine.calls()[0]).toMatchObject({
      path: '/v1/chat/completions?a=1',
      headers: { 'x-a': 'b' },
      outcome: 'done',
    });
  });

  it(verifies('mock.offline', 'reports a cut as a reset connection'), async () => {
    const before = setUp({ cut_before: 'head' });
    const first = createRecorder();
    ask(before.transport, first.sink);
    await first.settled;
    expect(first.log).toEqual(['error reset']);

    const within = setUp({ text: 'one two', cut_after: 1 });
    const second = createRecorder();
    ask(within.transport, second.sink);
    await second.settled;
    expect(second.log).toEqual(['head 200', 'data', 'data', 'error reset']);
    expect(within.engine.calls()[0]?.outcome).toBe('cut');
  });

  it('waits by the clock it was given, with one timer at a time', async () => {
    const { transport, clock } = setUp({ chunks: ['a', 'b'], delay_ms: 1000, chunk_delay_ms: 50 });
    const { sink, log, settled } = createRecorder();
    ask(transport, sink);
    clock.advance(999);
    expect(log).toEqual([]);
    clock.advance(1);
    expect(log).toEqual(['head 200']);
    clock.advance(49);
    expect(log).toEqual(['head 200']);
    clock.advance(51);
    expect(log).toEqual(['head 200', 'data', 'data']);
    expect(clock.pending).toBe(1);
    clock.advance(1000);
    await settled;
    expect(log.at(-1)).toBe('end');
    expect(clock.pending).toBe(0);
  });

  it('holds everything back while paused, and loses nothing', async () => {
    const { transport } = setUp({ chunks: 50, text: 'x'.repeat(50) });
    const whole = createRecorder();
    ask(transport, whole.sink);
    await whole.settled;

    const { sink, log, settled, text } = createRecorder({ onData: () => call.pause() });
    const call = ask(transport, sink);
    for (let i = 0; i < 100; i++) await nextTurn();
    expect(log).toEqual(['head 200', 'data']);
    while (log.at(-1) !== 'end') {
      call.resume();
      await nextTurn();
    }
    await settled;
    expect(text()).toBe(whole.text());
  });

  it('keeps the wait running while paused', async () => {
    const { transport, clock } = setUp({ chunk_delay_ms: 50 });
    const { sink, log } = createRecorder();
    const call = ask(transport, sink);
    await nextTurn();
    call.pause();
    clock.advance(1000);
    expect(log).toEqual(['head 200']);
    call.resume();
    await nextTurn();
    expect(log).toEqual(['head 200', 'data']);
  });

  it('resumes from within the sink without nesting calls', async () => {
    let depth = 0;
    const { transport } = setUp({ chunks: 20, text: 'x'.repeat(20) });
    const { sink, settled } = createRecorder({
      onData() {
        expect(++depth).toBe(1);
        call.pause();
        call.resume();
        depth--;
      },
    });
    const call = ask(transport, sink);
    await settled;
  });

  it('ends an aborted call with one error and nothing after it', async () => {
    const { transport, engine, clock } = setUp({ chunk_delay_ms: 10 });
    const { sink, log, settled } = createRecorder();
    const call = ask(transport, sink);
    await nextTurn();
    call.abort();
    call.abort();
    expect(log).toEqual(['head 200']);
    await settled;
    call.resume();
    clock.advance(1000);
    await nextTurn();
    expect(log).toEqual(['head 200', 'error aborted']);
    expect(engine.calls()[0]?.outcome).toBe('aborted');
  });

  it('ignores abort, pause and resume after the end', async () => {
    const { transport } = setUp();
    const { sink, log, settled } = createRecorder();
    const call = ask(transport, sink, false);
    await settled;
    call.pause();
    call.resume();
    call.abort();
    await nextTurn();
    expect(log).toEqual(['head 200', 'data', 'end']);
  });

  it('aborts what is open when it closes', async () => {
    const { transport } = setUp({ delay_ms: 1000 });
    const { sink, log, settled } = createRecorder();
    ask(transport, sink);
    await transport.close();
    await settled;
    expect(log).toEqual(['error aborted']);
  });

  it('delivers decoded bodies, whatever the coding', async () => {
    const { transport } = setUp({ encoding: 'gzip' });
    const { sink, settled, text } = createRecorder();
    ask(transport, sink, false);
    await settled;
    expect(JSON.parse(text()).object).toBe('chat.completion');
  });
});

describe('mock transport with a body that is not in memory', () => {
  const url = new URL('mock://local/v1/images/edits');
  const headers = ['content-type', 'multipart/form-data; boundary=b'];
  const form = formText('b', [
    { name: 'model', content: 'm' },
    { name: 'image', filename: 'a', content: 'bytes' },
  ]);
  const send = (transport: Transport, sink: UpstreamSink, body: SpooledBody) =>
    transport.send({ url, method: 'POST', headers, body }, sink);
  const broken: SpooledBody = {
    length: 3,
    open: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error()) }) }),
  };

  it('plays its script once the body is there', async () => {
    const { transport, engine } = setUp();
    const recorder = createRecorder();
    send(transport, recorder.sink, fromBytes(form));
    expect(recorder.log).toEqual([]);
    await recorder.settled;
    expect(recorder.log[0]).toBe('head 200');
    expect(recorder.log.at(-1)).toBe('end');
    expect(engine.calls()[0]).toMatchObject({ model: 'm', body: form });
  });

  it('breaks off when the body cannot be read or is beyond its bound', async () => {
    const { transport } = setUp();
    for (const body of [broken, { ...broken, length: 65 * 1024 * 1024 }]) {
      const recorder = createRecorder();
      send(transport, recorder.sink, body);
      await recorder.settled;
      expect(recorder.log).toEqual(['error reset']);
    }
  });

  it('ends once, however often it is aborted and closed', async () => {
    const { transport, engine } = setUp();
    const recorder = createRecorder();
    const call = send(transport, recorder.sink, fromBytes(form));
    call.abort();
    call.abort();
    await transport.close();
    await recorder.settled;
    await nextTurn();
    expect(recorder.log).toEqual(['error aborted']);
    expect(engine.calls()).toEqual([]);
  });

  it('waits for whoever paused it in the meantime', async () => {
    const { transport, engine } = setUp();
    const recorder = createRecorder();
    const call = send(transport, recorder.sink, fromBytes(form));
    call.pause();
    while (engine.calls().length === 0) await nextTurn();
    await nextTurn();
    expect(recorder.log).toEqual([]);
    call.resume();
    await recorder.settled;
    expect(recorder.log.at(-1)).toBe('end');
  });
});
