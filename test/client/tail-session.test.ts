import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClientError } from '../../src/client/http/client-error.ts';
import { collect } from '../../src/client/http/pages.ts';
import { tailSession } from '../../src/client/tail-session.ts';
import type { TailRequest, TailSource } from '../../src/client/tail-session.ts';
import type { SessionEvent } from '../../src/sessions/log/session-event.ts';
import { verifies } from '../requirements.ts';
import { instantClock } from './instant-clock.ts';

const REQUEST: TailRequest = {
  id: 'sess_1',
  untilRest: false,
  follow: true,
  last: undefined,
  types: undefined,
  signal: undefined,
};

const TYPES = ['user.message', 'session.status_running', 'agent.message', 'session.error'] as const;
const eventOf = (index: number, type: string): SessionEvent =>
  ({
    id: `sevt_${index}`,
    type,
    processed_at: '2026-11-21T10:00:00.000Z',
    content: [{ type: 'text', text: `${index}: grüße, 世界 👋\nand more` }],
  }) as SessionEvent;

interface Cut {
  /** Bytes that the connection lets through. */
  after: number;
  /** It ends as if there were nothing more. */
  isClean: boolean;
  /** Events that are appended meanwhile. */
  grows: number;
}

interface Fault {
  cuts: Cut[];
  /** Events after which reading the history fails, one for each reading. */
  historyCuts: number[];
}

/** A gateway with this log, of which some are there already, over connections that are cut. */
function sourceOf(log: SessionEvent[], there: number, { cuts, historyCuts }: Fault): TailSource {
  let known = there;
  const readings = [...historyCuts];
  const connections = [...cuts];
  const frame = (event: SessionEvent) =>
    `: keep-alive\n\nevent: ${event.type}\r\nid: ${event.id}\r\ndata: ${JSON.stringify(event)}\r\n\r\n`;
  return {
    clock: instantClock(),
    random: () => 0.5,
    async *history(order) {
      const all = log.slice(0, known);
      const left = readings.shift() ?? Infinity;
      for (const [index, event] of (order === 'asc' ? all : all.reverse()).entries()) {
        if (index >= left) throw new ClientError({ code: 'connection_lost', message: 'cut' });
        yield event;
      }
    },
    async open(after) {
      const from = after === undefined ? known : log.findIndex(({ id }) => id === after) + 1;
      const cut = connections.shift();
      known = cut === undefined ? log.length : Math.min(log.length, known + cut.grows);
      const bytes = Buffer.from(log.slice(from, known).map(frame).join(''));
      return new ReadableStream<Uint8Array>({
        start(controller) {
          const part = bytes.subarray(0, cut?.after);
          if (part.length > 0) controller.enqueue(part);
          if (cut?.isClean ?? true) controller.close();
        },
        // What was enqueued is read first; an error at once would drop it.
        pull: (controller) => controller.error(new TypeError('terminated')),
      });
    },
  };
}

const fault = fc.record({
  cuts: fc.array(
    fc.record({ after: fc.nat(4_000), isClean: fc.boolean(), grows: fc.nat(8) }),
    // One less than it takes to give up, for the worst of them brings nothing at all.
    { maxLength: 6 },
  ),
  historyCuts: fc.array(fc.nat(20), { maxLength: 6 }),
});
const log = fc
  .array(fc.constantFrom(...TYPES), { maxLength: 25 })
  .map((types) => [...types, 'session.deleted'].map((type, index) => eventOf(index, type)));

describe('tailSession', () => {
  it(
    verifies(
      'cli.tail.reconnect',
      'gives every event once and in order, wherever history and streams are cut',
    ),
    async () => {
      await fc.assert(
        fc.asyncProperty(log, fc.nat(25), fault, async (events, there, faults) => {
          const source = sourceOf(events, Math.min(there, events.length - 1), faults);
          expect(await collect(tailSession(source, REQUEST))).toEqual(events);
        }),
        { numRuns: 300 },
      );
    },
  );

  it('gives the last events of the history and what follows, wherever streams are cut', async () => {
    const wanted = fc.option(fc.subarray([...TYPES], { minLength: 1 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(log, fc.nat(25), fc.nat(5), wanted),
        fault,
        async ([events, at, last, types], { cuts }) => {
          const there = Math.min(at, events.length - 1);
          const source = sourceOf(events, there, { cuts, historyCuts: [] });
          const isWanted = ({ type }: SessionEvent) => types?.includes(type as never) ?? true;
          const before = events.slice(0, there).filter(isWanted);
          // What is appended while the first stream is opened is no history, for an empty one.
          const expected = [
            ...before.slice(before.length - Math.min(last, before.length)),
            ...events.slice(there).filter(isWanted),
          ];
          const request = { ...REQUEST, last, types };
          expect(await collect(tailSession(source, request))).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('knows from a part of the history whether the session rests', async () => {
    const idle = { ...eventOf(4, 'session.status_idle'), stop_reason: { type: 'end_turn' } };
    const types = ['session.error', 'session.status_running', 'session.error', 'agent.message'];
    const events = [...types.map((type, index) => eventOf(index, type)), idle];
    const source = sourceOf(events, events.length, { cuts: [], historyCuts: [] });
    const request = { ...REQUEST, last: 1, types: ['agent.message'], untilRest: true };
    const tail = tailSession(source, request);
    expect(await tail.next()).toEqual({ done: false, value: events[3] });
    expect(await tail.next()).toMatchObject({ done: true, value: { type: 'end_turn' } });
  });

  it(
    verifies('cli.tail.reconnect', 'gives up when connections bring nothing again and again'),
    async () => {
      const clock = instantClock();
      let opened = 0;
      const events = tailSession(
        {
          clock,
          random: () => 0,
          async *history() {},
          open: async () => {
            opened++;
            return new Blob([]).stream();
          },
        },
        REQUEST,
      );
      const lost = { code: 'connection_lost', isRead: true };
      await expect(collect(events)).rejects.toMatchObject(lost);
      expect(opened).toBe(8);
      expect(clock.pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000]);
    },
  );

  it('does not try again what cannot succeed', async () => {
    let opened = 0;
    const source: TailSource = {
      clock: instantClock(),
      random: () => 0,
      async *history() {},
      open: async () => {
        opened++;
        throw new ClientError({ code: 'not_found', status: 404, message: 'session not found' });
      },
    };
    await expect(collect(tailSession(source, REQUEST))).rejects.toMatchObject({ status: 404 });
    expect(opened).toBe(1);
  });
});
