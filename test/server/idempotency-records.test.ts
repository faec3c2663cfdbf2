import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { createSealer } from '../../src/core/seal.ts';
import { createIdempotencyRecords } from '../../src/server/idempotency-records.ts';
import type {
  CallPlace,
  Claim,
  IdempotencyRecords,
  KeptAnswer,
  OwnedCall,
} from '../../src/server/idempotency-records.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import type { FakeClock } from '../support/fake-clock.ts';

const DAY = 86_400_000;
const PLACE: CallPlace = {
  organization: 'org_1',
  key: 'key_1',
  path: '/v1/agents',
  name: 'a',
  keepMs: DAY,
  isFirst: false,
};
const ANSWER: KeptAnswer = {
  status: 201,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"a":1}'),
};

describe('records of calls that name themselves', () => {
  let clock: FakeClock;
  let store: Store;
  let records: IdempotencyRecords;
  let reported: unknown[];
  beforeEach(async () => {
    clock = createFakeClock();
    store = await openStore({ driver: 'memory' }, { clock });
    reported = [];
    const sealer = createSealer([randomBytes(32)]);
    records = createIdempotencyRecords({
      store,
      clock,
      sealer,
      report: (error) => reported.push(error),
    });
  });

  async function own(place = PLACE): Promise<OwnedCall> {
    const claim: Claim = await records.claim(place, 'f');
    if (claim.type !== 'own') throw new Error(claim.type);
    return claim;
  }

  it(verifies('routing.idempotency-key', 'keep an answer for 24 hours and no longer'), async () => {
    await (await own()).finish(ANSWER);
    clock.advance(DAY - 1);
    expect(await records.claim(PLACE, 'f')).toEqual({ type: 'answered', answer: ANSWER });
    clock.advance(1);
    expect((await records.claim(PLACE, 'f')).type).toBe('own');
  });

  it('belong to one organization, key, path and name', async () => {
    await (await own()).finish(ANSWER);
    for (const [member, value] of Object.entries({
      organization: 'org_2',
      key: 'key_2',
      path: '/v1/skills',
      name: 'b',
    }))
      expect((await records.claim({ ...PLACE, [member]: value }, 'f')).type).toBe('own');
    expect((await records.claim(PLACE, 'g')).type).toBe('other-body');
  });

  it('let one of many callers make a call', async () => {
    const claims = await Promise.all(Array.from({ length: 20 }, () => records.claim(PLACE, 'f')));
    expect(claims.filter(({ type }) => type === 'own').length).toBe(1);
    expect(claims.filter(({ type }) => type === 'under-way').length).toBe(19);
  });

  it('hold a call while it is under way, however long, and let it go when nothing came of it', async () => {
    const call = await own();
    for (let minute = 0; minute < 10; minute++) {
      for (let step = 0; step < 3; step++) {
        clock.advance(20_000);
        await new Promise(setImmediate);
      }
      expect((await records.claim(PLACE, 'f')).type).toBe('under-way');
    }
    await call.release();
    expect((await records.claim(PLACE, 'f')).type).toBe('own');
  });

  it('give the call of a worker that died to the next one, which alone may answer then', async () => {
    const dead = await own();
    await store.commit([
      { type: 'delete', key: (await store.list({ prefix: ['idempotency', 'org_1'] }))[0]!.key },
    ]);
    const next = await own();
    await dead.finish({ ...ANSWER, status: 500 });
    await next.finish(ANSWER);
    expect(await records.claim(PLACE, 'f')).toMatchObject({ answer: { status: 201 } });
  });

  it('keep bytes, an empty body and large answers as they were', async () => {
    const bodies = [randomBytes(20 * 1024 * 1024), Buffer.alloc(0), undefined];
    for (const [index, body] of bodies.entries()) {
      const place = { ...PLACE, name: `body-${index}` };
      await (await own(place)).finish({ ...ANSWER, body });
      const found = await records.claim(place, 'f');
      if (found.type !== 'answered') throw new Error(found.type);
      if (body === undefined) expect(found.answer.body).toBeUndefined();
      else expect(found.answer.body?.equals(body)).toBe(true);
    }
  });

  it('do not keep what is too much, yet do not let it be made again', async () => {
    const large = Buffer.alloc(33 * 1024 * 1024);
    await (await own()).finish({ ...ANSWER, body: large });
    expect(await records.claim(PLACE, 'f')).toEqual({ type: 'forgotten' });
    await store.increment(['idempotency-bytes', 'org_1'], 512 * 1024 * 1024);
    const place = { ...PLACE, name: 'over-budget' };
    await (await own(place)).finish(ANSWER);
    expect(await records.claim(place, 'f')).toEqual({ type: 'forgotten' });
    expect(await store.list({ prefix: ['idempotency-part'] })).toEqual([]);
  });

  it('leave the answer alone when it cannot be written', async () => {
    const call = await own();
    await store.close();
    await call.finish(ANSWER);
    expect(reported.length).toBe(1);
  });
});
