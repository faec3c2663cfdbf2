import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NewEvent, PlacedEvent } from '../../../src/sessions/log/session-event.ts';
import type { TurnRunner } from '../../../src/sessions/sessions.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { eventually } from '../../support/gateway.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import {
  createRig,
  echoRunner,
  follow,
  historyOf,
  idle,
  newSession,
  pending,
  ORG,
  say,
  settled,
  typesOf,
} from '../support.ts';

const numbers = (events: readonly PlacedEvent[]) => events.map(({ seq }) => seq);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('the log of a Session', () => {
  it(
    verifies(
      'store.events.append-order',
      'has places without gaps from 16 writers at once, and shows none before the one below it',
    ),
    async () => {
      const { store, sessions } = createRig();
      const writers = Array.from({ length: 16 }, (_, index) =>
        createRig({ store, worker: `writer-${index}` }),
      );
      const { session } = await sessions.create(newSession());
      const done = new AbortController();
      const reading = (async () => {
        for (let seen = 0; !done.signal.aborted;) {
          const places = numbers(await historyOf(sessions, session.id));
          expect(places).toEqual(upTo(places.length));
          expect(places.length).toBeGreaterThanOrEqual(seen);
          seen = places.length;
        }
      })();
      await Promise.all(
        writers.map(async ({ sessions: own }, writer) => {
          for (let round = 0; round < 8; round++) {
            await own.send(ORG, session.id, [say(`${writer}/${round}`)]);
          }
        }),
      );
      done.abort();
      await reading;
      const history = await historyOf(sessions, session.id);
      const said = history.filter(({ event }) => event.type === 'user.message');
      expect(said).toHaveLength(16 * 8);
      expect(numbers(history)).toEqual(upTo(history.length));
    },
  );

  it('is read by eight at once with turns of the event loop for others', async () => {
    const { store, sessions } = createRig();
    const { session } = await sessions.create(newSession());
    await sessions.send(
      ORG,
      session.id,
      upTo(100).map((number) => say(`${number}`)),
    );
    let reads = 0;
    const { list } = store;
    store.list = (options) => {
      if (options.prefix.includes(session.id)) reads++;
      return list.call(store, options) as never;
    };
    const perTurn: number[] = [];
    let isOver = false;
    const count = (): void => {
      perTurn.push(reads);
      reads = 0;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const pages = upTo(8).map(() => sessions.read(ORG, session.id, { limit: 1_000 }));
    for (const { events } of await Promise.all(pages)) expect(events).toHaveLength(101);
    isOver = true;
    // Each begins at once; from then on one reads on in a turn.
    expect(Math.max(...perTurn.slice(1))).toBeLessThanOrEqual(2);
    expect(perTurn.length).toBeGreaterThan(8 * 2);
  });

  it(
    verifies('sessions.events.total-order', 'is one order without gaps, whoever writes at once'),
    async () => {
      const { store, sessions } = createRig();
      const other = createRig({ store, worker: 'b' });
      const { session } = await sessions.create(newSession());
      const followers = await Promise.all(
        [sessions, other.sessions].map((one) => follow(one, session.id)),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.record({ first: fc.boolean(), count: fc.integer({ min: 1, max: 4 }) }), {
            minLength: 1,
            maxLength: 12,
          }),
          async (sends) => {
            const sent = await Promise.all(
              sends.map(({ first, count }) =>
                (first ? sessions : other.sessions).send(
                  ORG,
                  session.id,
                  Array.from({ length: count }, (_, index) => say(String(index))),
                ),
              ),
            );
            const history = await historyOf(sessions, session.id);
            expect(numbers(history)).toEqual(upTo(history.length));
            const ids = history.map(({ event }) => event.id);
            expect(new Set(ids).size).toBe(ids.length);
            for (const events of sent) {
              const from = ids.indexOf(events[0]?.id ?? '');
              expect(ids.slice(from, from + events.length)).toEqual(events.map(({ id }) => id));
            }
            const times = history.map(({ event }) => event.processed_at);
            expect(times).toEqual(times.toSorted());
          },
        ),
        { numRuns: 10 },
      );
      await eventually(() => settled(sessions, session.id));
      const history = await historyOf(other.sessions, session.id);
      for (const { seen } of followers) {
        await eventually(() => seen.length === history.length);
        expect(seen).toEqual(history);
      }
    },
  );

  it(
    verifies(
      'sessions.events.turn-order',
      'sessions.events.history-content',
      'holds a plain turn in its order',
    ),
    async () => {
      const { sessions } = createRig();
      const { session, events } = await sessions.create(newSession({ events: [say('hello')] }));
      expect(session.status).toBe('running');
      await eventually(() => settled(sessions, session.id));
      const history = await historyOf(sessions, session.id);
      expect(typesOf(history)).toEqual([
        'user.message',
        'session.status_running',
        'span.model_request_start',
        'agent.message',
        'span.model_request_end',
        'session.status_idle',
      ]);
      expect(history[0]?.event).toEqual(events[0]);
      expect(history[3]?.event['content']).toEqual([{ type: 'text', text: 'hello' }]);
      expect(history[5]?.event['stop_reason']).toEqual({ type: 'end_turn' });
    },
  );

  it('goes forward in time when the clock steps back', async () => {
    const clock = createFakeClock();
    const { sessions } = createRig({ clock, runner: pending });
    const { session } = await sessions.create(newSession({ events: [say('a')] }));
    clock.step(-3_600_000);
    await sessions.send(ORG, session.id, [say('b')]);
    const times = (await historyOf(sessions, session.id)).map(({ event }) => event.processed_at);
    expect(times).toEqual(times.toSorted());
  });

  it('costs the same to read wherever a page begins', async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    const { sessions } = createRig({
      clock,
      store,
      runner: pending,
    });
    const { session } = await sessions.create(newSession());
    const batch = Array.from({ length: 100 }, (_, index) => say(`message ${index}`));
    for (let sent = 0; sent < 10_000; sent += batch.length)
      await sessions.send(ORG, session.id, batch);
    let rows = 0;
    const { list } = store;
    store.list = async (options) => {
      const found = await list(options);
      if (options.prefix.includes(session.id)) rows += found.length;
      return found as never;
    };
    const cost = async (after: number, order: 'asc' | 'desc') => {
      rows = 0;
      const { events } = await sessions.read(ORG, session.id, { after, order, limit: 50 });
      expect(events).toHaveLength(50);
      return rows;
    };
    const first = await cost(0, 'asc');
    expect(await cost(5_000, 'asc')).toBe(first);
    expect(await cost(9_900, 'asc')).toBe(first);
    expect(await cost(9_900, 'desc')).toBe(first);
    const whole = await historyOf(sessions, session.id);
    expect(numbers(whole)).toEqual(upTo(10_001));
  });

  it('gives no page of more bytes than asked for, and nothing is lost for it', async () => {
    const { sessions } = createRig({ runner: pending });
    const { session } = await sessions.create(newSession());
    for (let i = 0; i < 8; i++) await sessions.send(ORG, session.id, [say('x'.repeat(10_000))]);
    const seen: number[] = [];
    for (let after: number | null = 0; after !== null;) {
      const page = await sessions.read(ORG, session.id, { after, limit: 100, maxSize: 25_000 });
      expect(page.events.length).toBeLessThanOrEqual(4);
      seen.push(...numbers(page.events));
      after = page.next;
    }
    expect(seen).toEqual(upTo(9));
  });

  it('never takes more than a little of large events from the store at once', async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    const { sessions } = createRig({ clock, store, runner: pending });
    const { session } = await sessions.create(newSession());
    const large = 'x'.repeat(300_000);
    for (let i = 0; i < 12; i++) await sessions.send(ORG, session.id, [say(large)]);
    const taken: number[] = [];
    const { list } = store;
    store.list = async (options) => {
      const found = await list(options);
      taken.push(JSON.stringify(found).length);
      return found as never;
    };
    const seen: number[] = [];
    for (let after: number | null = 0; after !== null;) {
      const page = await sessions.read(ORG, session.id, { after, limit: 100 });
      expect(JSON.stringify(page.events).length).toBeLessThan(1_500_000);
      seen.push(...numbers(page.events));
      after = page.next;
    }
    expect(seen).toEqual(upTo(13));
    expect(numbers(await historyOf(sessions, session.id))).toEqual(upTo(13));
    expect(Math.max(...taken)).toBeLessThan(600_000);
  });
});

describe('the status of a Session', () => {
  /** A runner that appends what the test says, once. */
  const playing = (play: (append: (event: NewEvent) => Promise<unknown>) => Promise<void>) => {
    let isPlayed = false;
    const runner: TurnRunner = {
      async run(log) {
        if (isPlayed) return;
        isPlayed = true;
        await play((event) => log.append([event]));
      },
    };
    return runner;
  };

  it(
    verifies('sessions.status.transitions', 'moves as the table says, each move with its event'),
    async () => {
      const refused: unknown[] = [];
      const runner = playing(async (append) => {
        await append({ type: 'session.status_rescheduled' });
        await append(idle('end_turn')).catch((error: unknown) => refused.push(error));
        await append({ type: 'session.status_running' });
        await append(idle('end_turn'));
        await append({ type: 'session.status_rescheduled' }).catch((error: unknown) =>
          refused.push(error),
        );
        await append({ type: 'session.status_terminated' });
        await append({ type: 'session.status_running' }).catch((error: unknown) =>
          refused.push(error),
        );
      });
      const { sessions } = createRig({ runner });
      const { session } = await sessions.create(newSession({ events: [say('go')] }));
      await eventually(async () => (await sessions.get(ORG, session.id)).status === 'terminated');
      expect(refused).toMatchObject([
        { code: 'conflict' },
        { code: 'conflict' },
        { code: 'conflict' },
      ]);
      expect(typesOf(await historyOf(sessions, session.id)).slice(1)).toEqual([
        'session.status_running',
        'session.status_rescheduled',
        'session.status_running',
        'session.status_idle',
        'session.status_terminated',
      ]);
      await expect(sessions.send(ORG, session.id, [say('more')])).rejects.toMatchObject({
        code: 'conflict',
        retry: false,
      });
    },
  );

  it('says running in the commit of the message, so that nobody takes it for done', async () => {
    const { sessions } = createRig({ runner: echoRunner });
    const { session } = await sessions.create(newSession());
    expect(session.status).toBe('idle');
    for (let i = 0; i < 20; i++) {
      await sessions.send(ORG, session.id, [say('again')]);
      await eventually(() => settled(sessions, session.id));
      const types = typesOf(await historyOf(sessions, session.id));
      expect(types.filter((type) => type === 'agent.message')).toHaveLength(i + 1);
    }
  });

  it('tells what is still to be answered, and runs when nothing is', async () => {
    const ids: string[] = [];
    const runner = playing(async () => undefined);
    runner.run = async (log) => {
      if (ids.length > 0) return;
      const uses = await log.append(
        ['a', 'b'].map((name) => ({ type: 'agent.custom_tool_use' as const, name, input: {} })),
      );
      ids.push(...uses.map(({ event }) => event.id));
      await log.append([idle('requires_action', { event_ids: ids })], { handled: 1 });
    };
    const { sessions } = createRig({ runner });
    const { session } = await sessions.create(newSession({ events: [say('go')] }));
    await eventually(() => settled(sessions, session.id));
    const answer = (id: string | undefined) => ({
      type: 'user.custom_tool_result',
      custom_tool_use_id: id,
    });
    await sessions.send(ORG, session.id, [say('not your turn yet')]);
    expect(await settled(sessions, session.id)).toBe(true);
    await sessions.send(ORG, session.id, [answer(ids[1])]);
    const rest = (await historyOf(sessions, session.id)).at(-1)?.event;
    expect(rest).toMatchObject(idle('requires_action', { event_ids: [ids[0]] }));
    await sessions.send(ORG, session.id, [answer(ids[0])]);
    expect((await sessions.get(ORG, session.id)).status).toBe('running');
  });

  it(
    verifies('schedules.outcome', 'commits what is announced of a change with the change'),
    async () => {
      const seen: string[] = [];
      const { sessions, store } = createRig({
        announce(before, after) {
          if (after.rest?.reason !== 'end_turn' || after.rest === before.rest) return undefined;
          seen.push(`${before.status} ${after.status}`);
          return Promise.resolve([{ type: 'put', key: ['announced'], value: after.head }]);
        },
      });
      const { session } = await sessions.create(newSession({ events: [say('hello')] }));
      await eventually(() => settled(sessions, session.id));
      expect(seen).toEqual(['running idle']);
      const head = (await historyOf(sessions, session.id)).length;
      expect((await store.get(['announced']))?.value).toBe(head);
    },
  );
});
