import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createRelay } from '../../src/inference/relay.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { verifies } from '../requirements.ts';

/** A response whose socket takes what the test lets it take. */
function fakeResponse() {
  const written: string[] = [];
  const response = Object.assign(new EventEmitter(), {
    written,
    room: true,
    destroyed: false,
    writableNeedDrain: false,
    writableFinished: false,
    ended: false,
    write(bytes: Buffer) {
      written.push(bytes.toString());
      this.writableNeedDrain = !this.room;
      return this.room;
    },
    end() {
      this.ended = true;
    },
    destroy() {
      this.destroyed = true;
      response.emit('close');
    },
    drain() {
      this.room = true;
      this.writableNeedDrain = false;
      response.emit('drain');
    },
  });
  return response;
}

function setup() {
  const clock = createFakeClock();
  let drained = 0;
  const relay = createRelay({ clock, onDrain: () => void drained++ });
  const response = fakeResponse();
  const pipe = () => relay.body.pipe(response as unknown as ServerResponse);
  return { clock, relay, response, pipe, drained: () => drained };
}

describe('createRelay', () => {
  it(
    verifies('stream.backpressure', 'holds back the writer before and after the client takes over'),
    () => {
      const { relay, response, pipe, drained } = setup();
      expect(relay.write(Buffer.alloc(255 * 1024))).toBe(true);
      expect(relay.write(Buffer.alloc(2 * 1024))).toBe(false);
      response.room = false;
      pipe();
      expect(drained()).toBe(0);
      response.drain();
      expect(drained()).toBe(1);
      expect(relay.write(Buffer.from('x'))).toBe(true);
      response.room = false;
      expect(relay.write(Buffer.from('y'))).toBe(false);
    },
  );

  it(verifies('stream.sse.no-buffering', 'says in silence every 15 seconds that it lives'), () => {
    const { clock, relay, response, pipe } = setup();
    pipe();
    relay.write(Buffer.from('data: 1\n\n'));
    clock.advance(14_999);
    expect(response.written).toHaveLength(1);
    clock.advance(30_001);
    expect(response.written.slice(1)).toEqual([
      ': keep-alive\n\n',
      ': keep-alive\n\n',
      ': keep-alive\n\n',
    ]);
  });

  it('counts the silence from the last write', () => {
    const { clock, relay, response, pipe } = setup();
    pipe();
    clock.advance(10_000);
    relay.write(Buffer.from('data: 1\n\n'));
    clock.advance(14_999);
    expect(response.written).toHaveLength(1);
    clock.advance(1);
    expect(response.written).toHaveLength(2);
    // From then on every 15 seconds.
    clock.advance(14_999);
    expect(response.written).toHaveLength(2);
    clock.advance(1);
    expect(response.written).toHaveLength(3);
  });

  it('sends no comment while the client does not read, and does not spin meanwhile', () => {
    const { clock, relay, response, pipe } = setup();
    pipe();
    response.room = false;
    relay.write(Buffer.from('data: 1\n\n'));
    let timers = 0;
    const setTimer = clock.setTimeout.bind(clock);
    clock.setTimeout = (fn, ms) => {
      timers++;
      return setTimer(fn, ms);
    };
    clock.advance(50_000);
    expect(response.written).toHaveLength(1);
    expect(timers).toBeLessThan(6);
  });

  it('leaves no timer behind when it ends or is given up', () => {
    for (const stop of ['end', 'destroy'] as const) {
      const { clock, relay, pipe } = setup();
      pipe();
      relay.write(Buffer.from('data: 1\n\n'));
      if (stop === 'end') relay.end();
      else relay.body.destroy();
      expect(clock.pending).toBe(0);
    }
  });

  it('a client that takes over after the end gets everything', () => {
    const { relay, response, pipe } = setup();
    relay.write(Buffer.from('data: 1\n\n'));
    relay.end(Buffer.from('data: [DONE]\n\n'));
    pipe();
    expect(response.written.join('')).toBe('data: 1\n\ndata: [DONE]\n\n');
    expect(response.ended).toBe(true);
  });
});
