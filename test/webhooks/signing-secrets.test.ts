import { describe, expect, it, onTestFinished } from 'vitest';
import { createSealer } from '../../src/core/seal.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import type { CommitResult, Op } from '../../src/store/store.ts';
import { createSigningSecrets } from '../../src/webhooks/signing-secrets.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const DAY = 24 * 3_600_000;
const HOUR = 3_600_000;

function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  onTestFinished(() => store.close());
  const sealer = createSealer([Buffer.alloc(32, 7)]);
  return { clock, store, secrets: createSigningSecrets({ store, clock, sealer }) };
}

describe('the secret that signs webhooks', () => {
  it('is made once, by whoever asks first', async () => {
    const { secrets } = setUp();
    const [first, second] = await Promise.all([secrets.current('org_1'), secrets.current('org_1')]);
    expect(first).toHaveLength(1);
    expect(second).toEqual(first);
    expect(await secrets.current('org_2')).not.toEqual(first);
  });

  it('has no former one when it is the first', async () => {
    const { secrets, clock } = setUp();
    const { at, formerUntil, secret } = await secrets.rotate('org_1');
    expect([at, formerUntil]).toEqual([clock.now(), null]);
    expect(await secrets.current('org_1')).toEqual([secret]);
  });

  it('has its former one beside it for a day, to the millisecond', async () => {
    const { secrets, clock } = setUp();
    const { secret: first } = await secrets.rotate('org_1');
    const { secret: second, formerUntil } = await secrets.rotate('org_1');
    expect(formerUntil).toBe(clock.now() + DAY);
    clock.advance(DAY - 1);
    expect(await secrets.current('org_1')).toEqual([second, first]);
    clock.advance(1);
    expect(await secrets.current('org_1')).toEqual([second]);
  });

  it('loses its former one after a day also where a clock that was ahead rotated it', async () => {
    const { secrets, clock } = setUp();
    const { secret: first } = await secrets.rotate('org_1');
    clock.step(30 * DAY);
    const { secret: second } = await secrets.rotate('org_1');
    clock.step(-30 * DAY);
    expect(await secrets.current('org_1')).toEqual([second, first]);
    clock.advance(DAY - HOUR);
    expect(await secrets.current('org_1')).toEqual([second, first]);
    clock.advance(HOUR);
    expect(await secrets.current('org_1')).toEqual([second]);
  });

  it('is written by the commit that it is given', async () => {
    const { secrets, store } = setUp();
    const commits: (readonly Op[])[] = [];
    const commit = (ops: readonly Op[]): Promise<CommitResult> => {
      commits.push(ops);
      return store.commit([...ops, { type: 'put', key: ['noted'], value: 1 }]);
    };
    const { secret } = await secrets.rotate('org_1', commit);
    expect(commits).toMatchObject([[{ key: ['webhook-secret', 'org_1'], ifAbsent: true }]]);
    expect((await store.get(['noted']))?.value).toBe(1);
    expect(await secrets.current('org_1')).toEqual([secret]);
  });

  it('is rotated in spite of others, five times at most', async () => {
    const { secrets, store } = setUp();
    let left = 4;
    let tries = 0;
    const commit = async (ops: readonly Op[]): Promise<CommitResult> => {
      tries++;
      return left-- > 0 ? { ok: false, conflict: ['webhook-secret', 'org_1'] } : store.commit(ops);
    };
    const { secret } = await secrets.rotate('org_1', commit);
    expect([tries, await secrets.current('org_1')]).toEqual([5, [secret]]);
    left = 5;
    await expect(secrets.rotate('org_1', commit)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'others kept rotating the signing secret',
    });
    expect(tries).toBe(10);
    expect(await secrets.current('org_1')).toEqual([secret]);
  });

  it('lies sealed for its own organization', async () => {
    const { secrets, store } = setUp();
    const { secret } = await secrets.rotate('org_1');
    const row = await store.get<object>(['webhook-secret', 'org_1']);
    expect(JSON.stringify(row)).not.toContain(secret);
    await store.commit([{ type: 'put', key: ['webhook-secret', 'org_2'], value: row?.value }]);
    await expect(secrets.current('org_2')).rejects.toThrow();
  });
});
