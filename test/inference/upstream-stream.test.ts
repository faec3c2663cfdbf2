import { Buffer } from 'node:buffer';
import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { ActiveExchanges } from '../../src/inference/active-exchanges.ts';
import { UpstreamStream } from '../../src/inference/upstream-stream.ts';
import { UpstreamError } from '../../src/upstream/transport.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const TIMEOUTS = { firstContent: 300, wholeAnswer: 5_000, idle: 200, total: 5_000 };

/** Notes every event; ends upstream with the first of these that is an end of its own. */
class Noted extends UpstreamStream {
  readonly events: string[] = [];

  protected override begun(): void {
    this.events.push('begun');
  }

  protected override answered(status: number): void {
    this.events.push(`head ${status}`);
    this.commit(Buffer.alloc(0));
  }

  protected override received(chunk: Buffer): void {
    this.events.push(`data ${chunk.length}`);
    this.pass(chunk);
  }

  protected override finished(): void {
    this.events.push('end');
    this.close();
    this.relay?.end();
  }

  protected override failed({ kind }: UpstreamError): void {
    this.#leave(kind);
  }

  protected override lapsed(lapse: string): void {
    this.#leave(this.isWaiting ? `waited: ${lapse}` : lapse);
  }

  protected override clientLeft(): void {
    this.#leave('client gone');
  }

  protected override stopped(): void {
    this.#leave('stopped');
  }

  readBy(response: Writable): void {
    this.relay?.body.pipe(response);
  }

  #leave(why: string): void {
    this.events.push(why);
    this.abort();
  }
}

function setUp(isWaiting = false) {
  const clock = createFakeClock();
  const active = new ActiveExchanges();
  const listeners = new Set<() => void>();
  const upstream = { aborted: 0, paused: false };
  const exchange = new Noted({
    clock,
    active,
    timeouts: TIMEOUTS,
    beforeCommitMs: 1_000,
    callDeadline: 5_000,
    client: {
      gone: false,
      onGone(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
  });
  const handle = {
    isWaiting,
    abort: () => void upstream.aborted++,
    pause: () => void (upstream.paused = true),
    resume: () => void (upstream.paused = false),
  };
  const leave = () => listeners.forEach((listener) => listener());
  return { clock, active, listeners, upstream, exchange, handle, leave };
}

it('tells everything of an exchange that ends by itself, and leaves nothing behind', () => {
  const { clock, active, listeners, upstream, exchange, handle } = setUp();
  exchange.attach(handle);
  exchange.onHead(200, {});
  exchange.onData(Buffer.from('abc'));
  exchange.onEnd();
  expect(exchange.events).toEqual(['begun', 'head 200', 'data 3', 'end']);
  expect([upstream.aborted, active.size, listeners.size, clock.pending]).toEqual([0, 0, 0, 0]);
});

it.each([
  ['client gone', ({ leave }: ReturnType<typeof setUp>) => leave()],
  ['stopped', ({ active }: ReturnType<typeof setUp>) => active.shutDown()],
  ['timeout_first_content', ({ clock }: ReturnType<typeof setUp>) => clock.advance(1_000)],
  [
    'reset',
    ({ exchange }: ReturnType<typeof setUp>) =>
      exchange.onError(new UpstreamError('reset', 'gone')),
  ],
] as const)('ends once, and hears of nothing afterwards: %s', (why, end) => {
  const all = setUp();
  const { clock, active, listeners, upstream, exchange, handle, leave } = all;
  exchange.attach(handle);
  end(all);
  exchange.onHead(200, {});
  exchange.onData(Buffer.from('abc'));
  exchange.onEnd();
  exchange.onError(new UpstreamError('aborted', 'given up'));
  exchange.shutDown();
  leave();
  clock.advance(10_000);
  expect(exchange.events).toEqual(['begun', why]);
  expect([upstream.aborted, active.size, listeners.size, clock.pending]).toEqual([1, 0, 0, 0]);
});

it('closes a connection that it gets only once it is over', () => {
  const { exchange, handle, upstream } = setUp();
  exchange.giveUp();
  exchange.attach(handle);
  expect(upstream.aborted).toBe(1);
});

it('gives a request that waits for a connection the time of a first content, and its own time later', () => {
  const late = setUp(true);
  late.exchange.attach(late.handle);
  late.clock.advance(300);
  expect(late.exchange.events).toEqual(['waited: timeout_first_content']);

  const { clock, exchange, handle } = setUp(true);
  exchange.attach(handle);
  clock.advance(299);
  handle.isWaiting = false;
  exchange.onPlace();
  clock.advance(999);
  expect(exchange.events).toEqual(['begun']);
  clock.advance(1);
  expect(exchange.events).toEqual(['begun', 'timeout_first_content']);
});

it('reads no faster than the client takes, whose slowness is no silence', () => {
  const { clock, exchange, handle, upstream } = setUp();
  exchange.attach(handle);
  exchange.onHead(200, {});
  let take: () => void = () => undefined;
  const response = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => void (take = done),
  });
  exchange.readBy(response);
  exchange.onData(Buffer.from('abc'));
  expect(upstream.paused).toBe(true);
  clock.advance(1_000);
  expect(exchange.events).toEqual(['begun', 'head 200', 'data 3']);
  take();
  return new Promise<void>((resolve) => {
    setImmediate(() => {
      expect(upstream.paused).toBe(false);
      clock.advance(200);
      expect(exchange.events.at(-1)).toBe('timeout_idle');
      resolve();
    });
  });
});
