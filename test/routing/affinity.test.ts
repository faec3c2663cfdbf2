import { describe, expect, it } from 'vitest';
import { createAffinity } from '../../src/routing/affinity.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const DAY_MS = 24 * 3600 * 1000;

function setup() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  return { clock, store, affinity: createAffinity(store) };
}

describe('createAffinity', () => {
  it('finds the account that made the last of the names that is known', async () => {
    const { affinity } = setup();
    await affinity.keep('org_1', ['response:a', 'encrypted:x'], 'prov_a');
    await affinity.keep('org_1', ['response:b'], 'prov_b');
    expect(await affinity.find('org_1', ['response:a', 'response:b'])).toBe('prov_b');
    expect(await affinity.find('org_1', ['response:b', 'encrypted:x', 'new'])).toBe('prov_a');
    expect(await affinity.find('org_1', ['new'])).toBeUndefined();
    expect(await affinity.find('org_1', [])).toBeUndefined();
  });

  it('refuses what another organization was given, unless this one was given it too', async () => {
    const { affinity } = setup();
    await affinity.keep('org_1', ['response:a'], 'prov_a');
    await expect(affinity.find('org_2', ['response:a'])).rejects.toMatchObject({
      code: 'invalid_request',
      status: 400,
    });
    await affinity.keep('org_2', ['response:a'], 'prov_b');
    expect(await affinity.find('org_1', ['response:a'])).toBe('prov_a');
    expect(await affinity.find('org_2', ['response:a'])).toBe('prov_b');
  });

  it('names the model of a thing that its account keeps, to its own organization only', async () => {
    const { affinity } = setup();
    await affinity.keep('org_1', ['response:a'], { account: 'prov_a', model: 'm/a' });
    await affinity.keep('org_1', ['response:b'], 'prov_a');
    expect(await affinity.find('org_1', ['response:a'])).toBe('prov_a');
    expect(await affinity.modelOf('org_1', 'response:a')).toBe('m/a');
    expect(await affinity.modelOf('org_1', 'response:b')).toBeUndefined();
    expect(await affinity.modelOf('org_2', 'response:a')).toBeUndefined();
  });

  it('forgets after thirty days', async () => {
    const { affinity, clock } = setup();
    await affinity.keep('org_1', ['response:a'], 'prov_a');
    clock.advance(29 * DAY_MS);
    expect(await affinity.find('org_1', ['response:a'])).toBe('prov_a');
    clock.advance(2 * DAY_MS);
    expect(await affinity.find('org_1', ['response:a'])).toBeUndefined();
  });

  it('keeps the last 256 of too many names, of any length', async () => {
    const { affinity } = setup();
    const names = Array.from({ length: 300 }, (_, index) => `${'n'.repeat(100_000)}${index}`);
    await affinity.keep('org_1', [...names, ...names.slice(-3)], 'prov_a');
    expect(await affinity.find('org_1', [names[299] as string])).toBe('prov_a');
    expect(await affinity.find('org_1', [names[0] as string])).toBeUndefined();
  });

  it('writes nothing for an answer that leaves nothing', async () => {
    const { affinity, store } = setup();
    await affinity.keep('org_1', [], 'prov_a');
    expect(await store.list({ prefix: ['affinity'] })).toEqual([]);
  });
});
