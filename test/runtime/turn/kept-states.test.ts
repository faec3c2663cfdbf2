import { describe, expect, it } from 'vitest';
import { KeptStates } from '../../../src/runtime/turn/kept-states.ts';
import { TurnState } from '../../../src/runtime/turn/turn-state.ts';
import { FakeSession } from '../fake-log.ts';
import { loopBench } from '../loop-bench.ts';

/** State behind so many events of `size` characters each. */
function stateOf(events: number, size = 1): TurnState {
  const state = new TurnState();
  for (let seq = 1; seq <= events; seq++) {
    const event = { id: `sevt_${seq}`, type: 'system.message' as const, processed_at: '' };
    state.take({ seq, event: { ...event, content: 'x'.repeat(size) } });
  }
  return state;
}

/** Notes the places behind which its log was read. */
class WatchedSession extends FakeSession {
  readonly places: number[] = [];

  override open() {
    const log = super.open();
    const { events } = log;
    log.events = (after = 0) => {
      this.places.push(after);
      return events(after);
    };
    return log;
  }
}

describe('what is kept of a Session between its turns', () => {
  it('is given to one turn alone', () => {
    const kept = new KeptStates();
    const state = stateOf(100);
    kept.keep('a', state);
    expect(kept.take('b')).toBeUndefined();
    expect(kept.take('a')).toBe(state);
    expect(kept.take('a')).toBeUndefined();
  });

  it('is nothing where the log is short or very long', () => {
    const kept = new KeptStates();
    kept.keep('a', stateOf(5));
    kept.keep('b', stateOf(20, 1024 * 1024));
    expect([kept.take('a'), kept.take('b')]).toEqual([undefined, undefined]);
  });

  it('makes room for later ones, the first first', () => {
    const kept = new KeptStates();
    const large = () => stateOf(20, 128 * 1024);
    for (const id of ['a', 'b', 'c']) kept.keep(id, large());
    // Whoever comes back is the latest.
    kept.keep('a', kept.take('a') ?? large());
    kept.keep('d', large());
    expect(kept.take('b')).toBeUndefined();
    for (const id of ['a', 'c', 'd']) expect(kept.take(id)).toBeDefined();
  });
});

describe('a turn of a long conversation', () => {
  it('reads no more of its log than what its process has not seen', async () => {
    const bench = loopBench();
    const session = new WatchedSession();
    const { places } = session;
    const say = async (text: string) => {
      session.message(text);
      await bench.run(session);
    };
    for (let turn = 0; turn < 5; turn++) await say(`${turn}`);
    const { length } = session.placed;
    places.length = 0;
    await say('last');
    expect(places.length).toBeGreaterThan(0);
    expect(Math.min(...places)).toBe(length);
  });

  it('tells its model the same where turns in between were run by another process', async () => {
    const [one, other] = [loopBench(), loopBench()];
    const session = new FakeSession();
    for (let turn = 0; turn < 12; turn++) {
      session.message(`${turn}`);
      await (turn % 5 === 4 ? other : one).run(session);
    }
    const last = one.engine.calls().at(-1)?.body.toString() ?? '';
    const { messages } = JSON.parse(last) as { messages: { role: string }[] };
    expect(messages.map(({ role }) => role)).toEqual(
      Array.from({ length: 23 }, (_, index) => (index % 2 === 0 ? 'user' : 'assistant')),
    );
  });

  it('is read from its beginning after a go that failed', async () => {
    const bench = loopBench();
    const session = new WatchedSession();
    const { places } = session;
    for (let turn = 0; turn < 5; turn++) {
      session.message(`${turn}`);
      await bench.run(session);
    }
    session.message('dies');
    session.dieAt({ at: 1, when: 'before' });
    expect(await bench.run(session)).toBe(true);
    places.length = 0;
    await bench.run(session);
    expect(places[0]).toBe(0);
    expect(session.of('agent.message')).toHaveLength(6);
  });
});
