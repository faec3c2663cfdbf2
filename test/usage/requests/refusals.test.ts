import { describe, expect, it } from 'vitest';
import { createIdSource } from '../../../src/core/ids.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import { createRefusals } from '../../../src/usage/requests/refusals.ts';
import type { Refusal } from '../../../src/usage/requests/refusals.ts';
import { getRequest } from '../../../src/usage/requests/request-log.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { verifies } from '../../requirements.ts';
import { principal } from '../usage-fixtures.ts';

function setup() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const ids = createIdSource(clock);
  const observed: string[] = [];
  const counted: string[] = [];
  const leftOut: number[] = [];
  const refusals = createRefusals({
    store,
    clock,
    observe: ({ id }) => observed.push(id),
    count: (code) => counted.push(code),
    onLeftOut: (number) => leftOut.push(number),
    onError: (error) => {
      throw error;
    },
  });
  const note = (over: Partial<Refusal> = {}): string => {
    const id = ids.next('req');
    const cause = new GatewayError('invalid_api_key');
    const head = { id, at: clock.now(), startedAt: clock.monotonic(), surface: 'chat', model: '' };
    refusals.note({ ...head, stream: false, told: cause, cause, ...over });
    return id;
  };
  return { clock, store, refusals, note, observed, counted, leftOut };
}

describe('refusals', () => {
  it('leave a record and a line under their id, with the cause', async () => {
    const { store, refusals, note, observed } = setup();
    const cause = new GatewayError('model_not_found');
    const told = cause.with({ status: 400 });
    const id = note({ payer: principal(), model: 'acme/none', told, cause });
    await refusals.drain();
    expect(observed).toEqual([id]);
    expect(await getRequest({ store }, id)).toMatchObject({
      id,
      model: 'acme/none',
      status: 400,
      result: 'error',
      error_code: 'model_not_found',
      key: { id: principal().keyId },
    });
  });

  it(
    verifies(
      'refusals.bad-keys-bounded',
      'without a payer are sampled to a bound while all are counted',
    ),
    async () => {
      const { clock, store, refusals, note, observed, counted, leftOut } = setup();
      const ids = Array.from({ length: 500 }, () => note());
      await refusals.drain();
      const records = await Promise.all(ids.map((id) => getRequest({ store }, id)));
      expect(records.filter((record) => record !== undefined)).toHaveLength(20);
      expect(observed).toHaveLength(20);
      expect(counted).toHaveLength(500);
      clock.advance(60_000);
      expect(leftOut).toEqual([480]);
      note();
      expect(observed).toHaveLength(21);
    },
  );

  it('over the rate of the whole gateway are sampled, whosever key came too late', async () => {
    const { refusals, note, observed, counted } = setup();
    const cause = new GatewayError('global_rate_limited');
    for (let i = 0; i < 100; i++) note({ payer: principal(), told: cause, cause });
    await refusals.drain();
    expect(observed).toHaveLength(20);
    expect(counted).toHaveLength(100);
  });

  it('of known keys are all kept', async () => {
    const { refusals, note, observed } = setup();
    for (let i = 0; i < 100; i++) note({ payer: principal() });
    await refusals.drain();
    expect(observed).toHaveLength(100);
  });
});
