import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ByteBudget } from '../../../src/core/memory/byte-budget.ts';
import { BodyIntake } from '../../../src/surfaces/bodies/body-intake.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const OTHER = { holder: 'key_2', bytes: 60 };

function setUp({
  expect: expected,
  httpVersion = '1.1',
}: { expect?: string; httpVersion?: string } = {}) {
  const clock = createFakeClock();
  const budget = new ByteBudget({ clock, bytes: 100, waitMs: 1_000, maxWaiting: 9 });
  let invited = 0;
  const request = { headers: { expect: expected }, httpVersion, destroyed: false };
  const response = Object.assign(new EventEmitter(), { writeContinue: () => void invited++ });
  const intake = new BodyIntake(
    {
      request: request as unknown as IncomingMessage,
      response: response as unknown as ServerResponse,
    },
    budget,
  );
  return { clock, budget, request, response, intake, invited: () => invited };
}

describe('the room of a body', () => {
  it('is taken at once where there is some, and grows to what is asked for in all', () => {
    const { intake, budget } = setUp();
    expect(intake.reserve('key_1', 10)).toBeUndefined();
    expect(intake.reserve('key_1', 30)).toBeUndefined();
    expect(intake.reserve('key_1', 20)).toBeUndefined();
    expect([intake.held, budget.used]).toEqual([30, 30]);
  });

  it('may be nearly the whole for a body that grows alone', () => {
    const { intake } = setUp();
    void intake.reserve('key_1', 50);
    expect(intake.reserve('key_1', 100)).toBeUndefined();
  });

  it('shrinks to what is needed and never grows by that', () => {
    const { intake, budget } = setUp();
    void intake.reserve('key_1', 30);
    intake.shrink(40);
    expect([intake.held, budget.used]).toEqual([30, 30]);
    intake.shrink(10);
    expect([intake.held, budget.used]).toEqual([10, 10]);
  });

  it('is given back once, and nothing is taken after that', () => {
    const { intake, budget } = setUp();
    void intake.reserve('key_1', 30);
    intake.release();
    intake.release();
    expect([intake.held, budget.used]).toEqual([0, 0]);
    expect(intake.reserve('key_1', 30)).toBeUndefined();
    expect(budget.used).toBe(0);
  });

  it('is waited for, and held beside what was held before', async () => {
    const { intake, budget, response } = setUp();
    void intake.reserve('key_1', 20);
    budget.tryTake(OTHER);
    const wait = intake.reserve('key_1', 50);
    expect([intake.held, response.listenerCount('close')]).toEqual([20, 1]);
    budget.giveBack(OTHER.holder, OTHER.bytes);
    await wait;
    expect([intake.held, budget.used, response.listenerCount('close')]).toEqual([50, 50, 0]);
  });

  it('is refused when none becomes free in time', async () => {
    const { intake, budget, clock } = setUp();
    budget.tryTake(OTHER);
    const wait = intake.reserve('key_1', 50);
    clock.advance(1_000);
    await expect(wait).rejects.toMatchObject({
      code: 'no_room_for_body',
      headers: { 'retry-after': '1' },
    });
    expect(intake.held).toBe(0);
  });

  it('is waited for no longer than the client stays', async () => {
    const { intake, budget, request, response } = setUp();
    budget.tryTake(OTHER);
    const wait = intake.reserve('key_1', 50);
    request.destroyed = true;
    response.emit('close');
    await expect(wait).rejects.toMatchObject({ code: 'invalid_request' });
    expect([budget.waiting.count, budget.used]).toEqual([0, 60]);
  });

  it('is given up with the exchange that waits for it', async () => {
    const { intake, budget } = setUp();
    budget.tryTake(OTHER);
    const wait = intake.reserve('key_1', 50);
    intake.release();
    expect(budget.waiting.count).toBe(0);
    await expect(wait).rejects.toMatchObject({ code: 'no_room_for_body' });
  });

  it('is given back that was found in the moment of the release', async () => {
    const { intake, budget } = setUp();
    budget.tryTake(OTHER);
    const wait = intake.reserve('key_1', 50);
    budget.giveBack(OTHER.holder, OTHER.bytes);
    intake.release();
    await wait;
    expect([intake.held, budget.used]).toEqual([0, 0]);
  });
});

describe('the word to send the body', () => {
  it('is said once to a client that waits for it', () => {
    const { intake, invited } = setUp({ expect: '100-Continue' });
    expect(intake.isAwaited).toBe(true);
    intake.invite();
    intake.invite();
    expect([intake.isAwaited, invited()]).toEqual([false, 1]);
  });

  it.each([{}, { expect: 'x100-continued' }, { expect: '100-continue', httpVersion: '1.0' }])(
    'is not said to a client with %j',
    (head) => {
      const { intake, invited } = setUp(head);
      expect(intake.isAwaited).toBe(false);
      intake.invite();
      expect(invited()).toBe(0);
    },
  );
});
