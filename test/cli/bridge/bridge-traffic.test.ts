import { describe, expect, it } from 'vitest';
import { BridgeTraffic } from '../../../src/cli/bridge/bridge-traffic.ts';

const BOUND = 32;

/** Starts a wait for room; the flag says whether it is over. */
function waitForRoom(traffic: BridgeTraffic) {
  const wait = { isOver: false, done: Promise.resolve() };
  wait.done = traffic.room().then(() => void (wait.isOver = true));
  return wait;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the traffic of a bridge', () => {
  it('is bounded, and has room again when an answer has arrived', async () => {
    const traffic = new BridgeTraffic();
    const ends: (() => void)[] = [];
    for (let i = 0; i < BOUND; i++) traffic.carry(new Promise((resolve) => ends.push(resolve)));
    const room = waitForRoom(traffic);
    await turn();
    expect(room.isOver).toBe(false);
    ends.pop()?.();
    await room.done;
    for (const end of ends) end();
    await traffic.ended();
  });

  it('has room for the reply to every question, however much is on its way', async () => {
    const traffic = new BridgeTraffic();
    for (let i = 0; i < BOUND; i++) traffic.carry(new Promise(() => undefined));
    const room = waitForRoom(traffic);
    await turn();
    traffic.asked('sess_1/sevt_1');
    await room.done;
    traffic.replied('sess_1/sevt_1');
    const next = waitForRoom(traffic);
    await turn();
    expect(next.isOver).toBe(false);
  });
});
