import { describe, expect, it } from 'vitest';
import { ConnectionPlaces } from '../../../src/upstream/places/connection-places.ts';
import type { Destination } from '../../../src/upstream/places/connection-places.ts';
import { UpstreamError } from '../../../src/upstream/transport.ts';
import type { Transport, UpstreamSink } from '../../../src/upstream/transport.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const REQUEST = {
  url: new URL('http://p.test/'),
  method: 'GET' as const,
  headers: [],
  body: undefined,
};
const TO: Destination = { id: 'prov_1', name: 'acme' };

/** A transport that keeps every call until the test ends it. */
function setUp(connections: number, maxWaiting = 100) {
  const clock = createFakeClock();
  const sent: { sink: UpstreamSink; paused: boolean }[] = [];
  const transport: Transport = {
    send(_request, sink) {
      const one = { sink, paused: false };
      sent.push(one);
      return {
        abort: () => sink.onError(new UpstreamError('aborted', 'aborted')),
        pause: () => void (one.paused = true),
        resume: () => void (one.paused = false),
      };
    },
    close: async () => undefined,
  };
  const lines: [string, object | undefined][] = [];
  const log = { warn: (message: string, fields?: object) => void lines.push([message, fields]) };
  const places = new ConnectionPlaces({ clock, log, connections, maxWaiting });
  const call = (holder: string, to = TO) => {
    const events: string[] = [];
    const sink: UpstreamSink = {
      onPlace: () => void events.push('place'),
      onHead: () => undefined,
      onData: () => undefined,
      onEnd: () => void events.push('end'),
      onError: ({ kind }) => void events.push(kind),
    };
    return { events, handle: places.share(transport, to, holder).send(REQUEST, sink) };
  };
  return { clock, sent, lines, places, call };
}

describe('the connections of a provider', () => {
  it('are given on at the end of a call, whatever its end', async () => {
    const { sent, places, call } = setUp(2);
    const calls = Array.from({ length: 6 }, () => call('key_1'));
    const [first, , third, fourth, fifth] = calls;
    expect(sent).toHaveLength(2);
    expect(places.look(TO)).toEqual({ used: 2, waiting: 4 });
    expect(calls.map(({ handle }) => handle.isWaiting)).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);

    sent[0]?.sink.onEnd();
    expect(third?.events).toEqual(['place']);
    expect(third?.handle.isWaiting).toBe(false);
    sent[1]?.sink.onError(new UpstreamError('reset', 'gone'));
    expect(fourth?.events).toEqual(['place']);
    third?.handle.abort();
    expect(third?.events).toEqual(['place', 'aborted']);
    expect(fifth?.events).toEqual(['place']);
    expect(first?.events).toEqual(['end']);
    expect(places.look(TO)).toEqual({ used: 2, waiting: 1 });
  });

  it('are not taken by what was given up before it had one', () => {
    const { sent, places, call } = setUp(1);
    const [, second, third] = [call('key_1'), call('key_1'), call('key_1')];
    second?.handle.abort();
    second?.handle.abort();
    expect(second?.events).toEqual(['waiting']);
    third?.handle.pause();
    sent[0]?.sink.onEnd();
    expect(sent).toHaveLength(2);
    expect(sent[1]?.paused).toBe(true);
    third?.handle.resume();
    expect(sent[1]?.paused).toBe(false);
    sent[1]?.sink.onEnd();
    expect(places.look(TO)).toEqual({ used: 0, waiting: 0 });
  });

  it('have room for so many that wait; more fail at once, in a later turn', async () => {
    const { sent, call } = setUp(1, 2);
    const calls = Array.from({ length: 4 }, () => call('key_1'));
    expect(calls[3]?.events).toEqual([]);
    expect(calls[3]?.handle.isWaiting).toBe(true);
    await Promise.resolve();
    expect(calls.map(({ events }) => events)).toEqual([[], [], [], ['waiting']]);
    expect(sent).toHaveLength(1);
  });

  it('belong to it alone, also where another provider has the same address', () => {
    const { sent, call } = setUp(1);
    call('key_1');
    call('key_1', { id: 'prov_2', name: 'twin', connections: 2 });
    call('key_1', { id: 'prov_2', name: 'twin', connections: 2 });
    call('key_1', { id: 'prov_2', name: 'twin', connections: 2 });
    expect(sent).toHaveLength(3);
  });

  it('become more with the setting, for those that wait as well', () => {
    const { sent, call } = setUp(1);
    for (let index = 0; index < 3; index++) call('key_1');
    expect(sent).toHaveLength(1);
    call('key_1', { ...TO, connections: 3 });
    expect(sent).toHaveLength(3);
  });

  it('are said to be short of in one line a minute, which names provider and bound', () => {
    const { clock, lines, call } = setUp(2);
    for (let index = 0; index < 5; index++) call('key_1');
    const fields = { provider: 'acme', connections: 2, used: 2, waiting: 1 };
    expect(lines).toEqual([['calls wait for a connection', fields]]);
    clock.advance(60_000);
    call('key_1');
    expect(lines).toHaveLength(2);
  });

  it('go to the key with fewest, and the last eighth to no key that has the rest', () => {
    const { sent, places, call } = setUp(16);
    for (let index = 0; index < 30; index++) call('key_1');
    expect(places.look(TO)).toEqual({ used: 14, waiting: 16 });
    const others = Array.from({ length: 3 }, () => call('key_2'));
    expect(sent).toHaveLength(16);
    expect(others.map(({ handle }) => handle.isWaiting)).toEqual([false, false, true]);
    sent[0]?.sink.onEnd();
    expect(others[2]?.events).toEqual(['place']);
    expect(sent).toHaveLength(17);
  });

  it('are free again when a sink throws at the end of its answer', () => {
    const { sent, places, call } = setUp(1);
    const broken = call('key_1');
    broken.events.push = () => {
      broken.events.push = Array.prototype.push;
      throw new Error('a bug');
    };
    expect(() => sent[0]?.sink.onEnd()).toThrow('a bug');
    sent[0]?.sink.onError(new UpstreamError('reset', 'the answer could not be handled'));
    expect(places.look(TO)).toEqual({ used: 0, waiting: 0 });
  });
});
