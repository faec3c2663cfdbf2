import { describe, expect, it } from 'vitest';
import { takeStreamPlace, watchKey } from '../../src/surfaces/standing-stream.ts';
import type { KeyFound, KeyLookup } from '../../src/surfaces/gate.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { principal, turns } from '../usage/usage-fixtures.ts';

const NEED = { scope: 'sessions', use: 'content' } as const;

function watched(lookup: KeyLookup) {
  const clock = createFakeClock();
  const state = { ends: 0, lookup };
  const forget = watchKey(
    () => void (state.ends += 1),
    { key: 'sk-1', need: NEED },
    { clock, lookup: (key) => state.lookup(key) },
  );
  const pass = async (ms: number) => {
    clock.advance(ms);
    await turns();
  };
  return { clock, state, forget, pass };
}

describe('the watch of a key', () => {
  it('goes on for as long as the key may do what it does', async () => {
    const { state, pass, clock } = watched(() => principal({ role: 'operator' }));
    for (let look = 0; look < 10; look++) await pass(500);
    expect(state.ends).toBe(0);
    expect(clock.pending).toBe(1);
  });

  const away = new Error('the store is away');
  it.each<[string, KeyLookup]>([
    ...(['unknown', 'revoked', 'expired'] as const).map((found): [string, KeyLookup] => [
      found,
      () => found,
    ]),
    ['without the scope', () => principal({ scopes: new Set(['models']) })],
    ['of another role', () => principal({ role: 'billing' })],
    ['of a disabled organization', () => principal({ organizationEnabled: false })],
    ['that cannot be looked up', () => Promise.reject(away)],
    [
      'whose lookup throws',
      () => {
        throw away;
      },
    ],
  ])('ends once with a key %s', async (_, found) => {
    const { state, pass, clock } = watched(() => principal());
    await pass(500);
    state.lookup = found;
    await pass(499);
    expect(state.ends).toBe(0);
    await pass(1);
    await pass(1_000);
    expect(state.ends).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it('tells nobody once it is over, also in the middle of a look', async () => {
    let answer: (found: KeyFound) => void = () => undefined;
    const { state, forget, pass, clock } = watched(() => new Promise((done) => (answer = done)));
    await pass(500);
    forget();
    answer('revoked');
    await pass(1_000);
    expect(state.ends).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

describe('the place of a stream', () => {
  const admitted = (concurrencyCap: number | null) => {
    const left: string[] = [];
    return {
      left,
      admitted: { principal: principal({ concurrencyCap }), leave: () => void left.push('call') },
    };
  };

  it('is one of its own, for which that of the call is given back', async () => {
    const { left, admitted: call } = admitted(1);
    const entered: string[] = [];
    const leave = await takeStreamPlace(call, {
      concurrency: {
        enter({ keyId }) {
          entered.push(keyId);
          return () => void left.push('stream');
        },
      },
    });
    expect(entered).toEqual(['key_1/stream']);
    expect(left).toEqual(['call']);
    leave();
    expect(left).toEqual(['call', 'stream']);
  });

  it('is refused beyond the cap of the key', async () => {
    const { left, admitted: call } = admitted(1);
    const taken = takeStreamPlace(call, { concurrency: { enter: () => undefined } });
    await expect(taken).rejects.toMatchObject({ code: 'key_concurrency_exceeded' });
    expect(left).toEqual(['call']);
  });

  it('costs nothing without a cap', async () => {
    const { left, admitted: call } = admitted(null);
    const leave = await takeStreamPlace(call, { concurrency: { enter: () => expect.fail() } });
    leave();
    expect(left).toEqual(['call']);
  });
});
