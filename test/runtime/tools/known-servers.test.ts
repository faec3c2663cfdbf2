import { describe, expect, it } from 'vitest';
import { createKnownServers } from '../../../src/runtime/tools/known-servers.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

describe('the facts about servers of tools', () => {
  it('hold for their time, at most for an hour, or until they are forgotten', () => {
    const clock = createFakeClock();
    const knownOf = createKnownServers(clock);
    knownOf('a').tools.set([], 5_000);
    knownOf('a').revision.set({ kind: 'legacy' }, Infinity);
    expect(knownOf('b').revision.get()).toBeUndefined();
    clock.advance(4_999);
    expect(knownOf('a').tools.get()).toEqual([]);
    clock.advance(1);
    expect(knownOf('a').tools.get()).toBeUndefined();
    expect(knownOf('a').revision.get()).toEqual({ kind: 'legacy' });
    clock.advance(3_600_000);
    expect(knownOf('a').revision.get()).toBeUndefined();
    knownOf('a').tools.set([], 5_000);
    knownOf('a').tools.forget();
    expect(knownOf('a').tools.get()).toBeUndefined();
  });

  it('are those of the 500 servers that were used last', () => {
    const knownOf = createKnownServers(createFakeClock());
    for (const key of ['first', 'second']) knownOf(key).tools.set([], 5_000);
    for (let server = 0; server < 499; server++) {
      knownOf(String(server));
      knownOf('first');
    }
    expect(knownOf('first').tools.get()).toEqual([]);
    expect(knownOf('second').tools.get()).toBeUndefined();
  });
});
