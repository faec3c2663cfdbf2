import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import type { EventDelta, PlacedEvent } from '../../../src/sessions/log/session-event.ts';
import type { TurnLog, TurnRunner } from '../../../src/sessions/sessions.ts';
import { createFrames } from '../../../src/sessions/log/stream-events.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { eventually } from '../../support/gateway.ts';
import { codeOf, turns } from '../../usage/usage-fixtures.ts';
import { createRig, follow, historyOf, idle, newSession, ORG, say, typesOf } from '../support.ts';

/** Calls for no turn. */
const NOTE = { type: 'system.message', content: [{ type: 'text', text: 'x' }] };

const quiet: TurnRunner = {
  async run(log) {
    do await log.append([idle('end_turn')]);
    while (log.session.status === 'running');
  },
};

const isPlaced = (item: PlacedEvent | EventDelta): item is PlacedEvent => 'seq' in item;

/** A turn that the test plays. */
function createPlayer() {
  const logs: TurnLog[] = [];
  const runner: TurnRunner = {
    run: (log, signal) =>
      new Promise((_resolve, reject) => {
        logs.push(log);
        signal.addEventListener('abort', () => reject(new Error('left off')));
      }),
  };
  return { logs, runner };
}

function start(log: TurnLog, id: string): void {
  log.show({ type: 'event_start', event: { type: 'agent.message', id } });
}

function show(log: TurnLog, id: string, text: string): void {
  const delta = { type: 'content_delta', index: 0, content: { type: 'text', text } };
  log.show({ type: 'event_delta', event_id: id, delta });
}

const joined = (items: readonly (PlacedEvent | EventDelta)[]): string =>
  items
    .flatMap((item) => (isPlaced(item) || item.type === 'event_start' ? [] : [item['delta']]))
    .map((delta) => (delta as { content: { text: string } }).content.text)
    .join('');

describe('following a Session', () => {
  it('begins now, or behind the event that was seen last', async () => {
    const { sessions } = createRig({ runner: quiet });
    const { session } = await sessions.create(newSession());
    await sessions.send(ORG, session.id, [say('before')]);
    const history = await historyOf(sessions, session.id);
    const now = await follow(sessions, session.id);
    const again = await follow(sessions, session.id, { after: history[0]?.event.id });
    await sessions.send(ORG, session.id, [say('after')]);
    await eventually(() => now.seen.filter(isPlaced).at(-1)?.event.type === 'session.status_idle');
    const whole = await historyOf(sessions, session.id);
    await eventually(() => again.seen.length === whole.length - 1);
    expect(again.seen).toEqual(whole.slice(1));
    expect(now.seen).toEqual(whole.slice(-now.seen.length));
    expect(typesOf(now.seen.filter(isPlaced))).toContain('user.message');
  });

  it('knows no event of another Session, and no Session of another organization', async () => {
    const { sessions } = createRig({ runner: quiet });
    const { session } = await sessions.create(newSession());
    const other = await sessions.create(newSession({ events: [say('x')] }));
    const signal = new AbortController().signal;
    const after = other.events[0]?.id;
    expect(await codeOf(sessions.follow(ORG, session.id, { after, signal }))).toBe(
      'invalid_request',
    );
    expect(await codeOf(sessions.follow('org_2', session.id, { signal }))).toBe('not_found');
    const long = 'x'.repeat(5_000);
    expect(await codeOf(sessions.follow(ORG, session.id, { after: long, signal }))).toBe(
      'invalid_request',
    );
  });

  it('ends with the event that says so when the Session is deleted, however much later it looks', async () => {
    const clock = createFakeClock();
    const { sessions, store } = createRig({ clock, runner: quiet });
    const { session } = await sessions.create(newSession());
    const live = await follow(sessions, session.id);
    const slow = await sessions.follow(ORG, session.id, { signal: new AbortController().signal });
    await sessions.remove(ORG, session.id);
    await live.done;
    expect(live.seen).toMatchObject([{ event: { type: 'session.deleted' } }]);
    await turns();
    clock.advance(61_000);
    for (let i = 0; i < 10; i++) await turns();
    expect(await store.list({ prefix: ['session-event'] })).toEqual([]);
    expect(await store.list({ prefix: ['session-event-id'] })).toEqual([]);
    expect(await store.list({ prefix: ['session-by'] })).toEqual([]);
    expect(await store.list({ prefix: ['session-agent'] })).toEqual([]);
    for await (const item of slow) expect(item).toBe('nothing');
  });

  it('ends when the Session is terminated, and at once when it was before', async () => {
    const runner: TurnRunner = {
      run: async (log) => void (await log.append([], { status: 'terminated' })),
    };
    const { sessions } = createRig({ runner });
    const { session } = await sessions.create(newSession());
    const live = await follow(sessions, session.id);
    await sessions.send(ORG, session.id, [say('x')]);
    await live.done;
    expect(typesOf(live.seen.filter(isPlaced)).at(-1)).toBe('session.status_terminated');
    const late = await follow(sessions, session.id);
    await late.done;
    expect(late.seen).toEqual([]);
  });

  it(
    verifies(
      'sessions.stream.deltas',
      'shows parts of events to those who asked, in their place, joining to the event',
    ),
    async () => {
      const { logs, runner } = createPlayer();
      const { sessions } = createRig({ runner });
      const { session } = await sessions.create(newSession());
      const asked = await follow(sessions, session.id, { deltas: ['agent.message'] });
      const others = await follow(sessions, session.id);
      const thinking = await follow(sessions, session.id, { deltas: ['agent.thinking'] });
      await sessions.send(ORG, session.id, [say('x')]);
      const log = await eventually(() => logs[0]);
      const ids: string[] = [];
      for (const words of [
        ['Hel', 'lo'],
        ['Bye', ' ', 'now'],
      ]) {
        await log.append([{ type: 'span.model_request_start' }]);
        const id = log.nextEventId();
        ids.push(id);
        start(log, id);
        for (const text of words) {
          show(log, id, text);
          await turns(1);
        }
        const content = [{ type: 'text', text: words.join('') }];
        await log.append([{ type: 'agent.message', id, content }]);
      }
      const history = await historyOf(sessions, session.id);
      await eventually(() => asked.seen.filter(isPlaced).length === history.length);
      show(log, String(ids[0]), 'late');
      await turns();
      expect(asked.seen.filter(isPlaced)).toEqual(history);
      expect(others.seen).toEqual(history);
      expect(thinking.seen).toEqual(history);
      expect(joined(asked.seen)).toBe('HelloBye now');
      const order = asked.seen.map((item) => (isPlaced(item) ? item.event.type : item.type));
      expect(order.filter((type) => type !== 'event_start').slice(2)).toEqual([
        'span.model_request_start',
        'event_delta',
        'event_delta',
        'agent.message',
        'span.model_request_start',
        'event_delta',
        'event_delta',
        'event_delta',
        'agent.message',
      ]);
    },
  );

  it('shows no part to whoever comes in its middle', async () => {
    const { logs, runner } = createPlayer();
    const { sessions } = createRig({ runner });
    const { session } = await sessions.create(newSession({ events: [say('x')] }));
    const log = await eventually(() => logs[0]);
    const id = log.nextEventId();
    start(log, id);
    show(log, id, 'Hel');
    const { seen } = await follow(sessions, session.id, { deltas: ['agent.message'] });
    show(log, id, 'lo');
    await log.append([{ type: 'agent.message', id, content: [{ type: 'text', text: 'Hello' }] }]);
    await eventually(() => seen.length > 0);
    expect(seen).toMatchObject([{ event: { id } }]);
  });

  it('reads the log once for all who follow, whichever process appends', async () => {
    const store = openMemoryStore(systemClock);
    let reads = 0;
    const counted: Store = {
      ...store,
      list(options) {
        if (options.prefix[0] === 'session-event') reads += 1;
        return store.list(options);
      },
    };
    const here = createRig({ store: counted, runner: quiet }).sessions;
    const there = createRig({ store, runner: quiet, worker: 'b' }).sessions;
    const { session } = await here.create(newSession());
    const followers = await Promise.all(
      Array.from({ length: 100 }, () => follow(here, session.id)),
    );
    await turns();
    for (const sessions of [here, there]) {
      reads = 0;
      const [note] = await sessions.send(ORG, session.id, [NOTE]);
      await eventually(() =>
        followers.every(({ seen }) => seen.filter(isPlaced).at(-1)?.event.id === note?.id),
      );
      await turns();
      expect(reads).toBeLessThan(5);
    }
    const history = await historyOf(here, session.id);
    for (const { seen } of followers) expect(seen).toEqual(history);
  });

  it('leaves the event loop to others between some of many followers', async () => {
    const { sessions } = createRig({ runner: quiet });
    const { session } = await sessions.create(newSession());
    const followers = await Promise.all(
      Array.from({ length: 400 }, () => follow(sessions, session.id)),
    );
    const count = (): number => followers.filter(({ seen }) => seen.length > 0).length;
    const counts = [0];
    await sessions.send(ORG, session.id, [NOTE]);
    while (counts.at(-1) !== 400) {
      counts.push(count());
      await new Promise((resolve) => setImmediate(resolve));
    }
    const steps = counts.slice(1).map((seen, index) => seen - (counts[index] ?? 0));
    expect(Math.max(...steps)).toBeLessThanOrEqual(64);
  });
});

describe('frames', () => {
  it('are made once of an event, however many follow', () => {
    const toFrame = createFrames();
    const event = { type: 'user.interrupt', id: 'sevt_1', processed_at: '' } as const;
    const frame = toFrame({ seq: 1, event });
    expect(toFrame({ seq: 1, event })).toBe(frame);
    expect(frame.toString()).toBe(
      `event: user.interrupt\nid: sevt_1\ndata: ${JSON.stringify(event)}\n\n`,
    );
  });
});
