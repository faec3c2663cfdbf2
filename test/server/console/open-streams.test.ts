import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { OpenStreams } from '../../../src/server/console/open-streams.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

class FakeResponse extends EventEmitter {
  closed = false;
  destroy(): void {
    if (this.closed) return;
    this.closed = true;
    this.emit('close');
  }
}

function setup() {
  const clock = createFakeClock();
  const over = new Set<string>();
  let looks = 0;
  const streams = new OpenStreams({
    clock,
    async isOver({ secret }) {
      looks += 1;
      return over.has(secret);
    },
  });
  return {
    clock,
    over,
    looks: () => looks,
    add(secret: string) {
      const response = new FakeResponse();
      streams.add({ response: response as unknown as ServerResponse, secret, word: 'w' });
      return response;
    },
    async pass(ms: number) {
      clock.advance(ms);
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    },
  };
}

it('cuts every stream of a session that is over, and no other, within a second', async () => {
  const { over, add, pass, looks } = setup();
  const mine = [add('mine'), add('mine')];
  const theirs = add('theirs');
  await pass(500);
  expect(looks()).toBe(2);
  expect([...mine, theirs].map(({ closed }) => closed)).toEqual([false, false, false]);
  over.add('mine');
  await pass(500);
  expect([...mine, theirs].map(({ closed }) => closed)).toEqual([true, true, false]);
});

it('keeps no timer without an open stream', async () => {
  const { clock, add, pass, looks } = setup();
  add('mine').destroy();
  await pass(500);
  expect(clock.pending).toBe(0);
  expect(looks()).toBe(0);
  const next = add('mine');
  await pass(500);
  expect(looks()).toBe(1);
  next.destroy();
  await pass(500);
  expect([clock.pending, looks()]).toEqual([0, 1]);
});
