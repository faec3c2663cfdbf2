import { describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { eventually } from '../support/gateway.ts';
import { createRig, quiet, say } from './support.ts';
import type { Rig } from './support.ts';

const MINUTE = 60_000;

/** Its turns end when they are told to. */
const working = {
  run: (_log: unknown, signal: AbortSignal) =>
    new Promise<void>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('left off')));
    }),
};

async function begin(rig: Rig, timeout_policy: object | null): Promise<string> {
  const id = await rig.make(undefined, { timeout_policy });
  return String((await rig.trigger(id)).sessionId);
}

const statusOf = async (rig: Rig, id: string) =>
  (await rig.sessions.get(rig.organization, id)).status;

const timers = (rig: Rig) => rig.store.list({ prefix: ['job', 'session-timeout'] });

describe('the timeout of a Schedule', () => {
  it(
    verifies(
      'deployments.timeout-policy',
      'ends a Session so long after it was made, at work or not',
    ),
    async () => {
      const rig = await createRig({ runner: working });
      rig.start();
      const id = await begin(rig, { session_timeout_seconds: 600 });
      await wait(rig, 10 * MINUTE - 1);
      expect(await statusOf(rig, id)).toBe('running');
      rig.clock.advance(1);
      await eventually(async () => (await statusOf(rig, id)) === 'terminated');
      const { events } = await rig.sessions.read(rig.organization, id, { limit: 50 });
      const types = events.map(({ event }) => event.type);
      expect(types.slice(-2)).toEqual(['session.error', 'session.status_terminated']);
      await eventually(async () => (await timers(rig)).length === 0);
    },
  );

  it(
    verifies('deployments.timeout-policy', 'ends one that was idle so long since its last event'),
    async () => {
      const rig = await createRig();
      rig.start();
      const id = await begin(rig, { idle_timeout_seconds: 600, session_timeout_seconds: 6_000 });
      await rig.pass(9 * MINUTE);
      await rig.sessions.send(rig.organization, id, [say('more')]);
      await rig.pass(10 * MINUTE - 1);
      expect(await statusOf(rig, id)).toBe('idle');
      await rig.pass(1);
      expect(await statusOf(rig, id)).toBe('terminated');
      expect(await timers(rig)).toEqual([]);
    },
  );

  it('does not take a Session at work for an idle one', async () => {
    const rig = await createRig({ runner: working });
    rig.start();
    const id = await begin(rig, { idle_timeout_seconds: 60 });
    await wait(rig, 10 * MINUTE);
    expect(await statusOf(rig, id)).toBe('running');
  });

  it('is over with its Session', async () => {
    const rig = await createRig();
    rig.start();
    const archived = await begin(rig, { session_timeout_seconds: 60 });
    const removed = await begin(rig, { session_timeout_seconds: 60 });
    await quiet(rig.store, rig.clock);
    await rig.sessions.archive(rig.organization, archived);
    await rig.sessions.remove(rig.organization, removed);
    await rig.pass(2 * MINUTE);
    expect(await statusOf(rig, archived)).toBe('idle');
    expect(await timers(rig)).toEqual([]);
  });

  it('is none unless the Schedule has one', async () => {
    const rig = await createRig();
    rig.start();
    const id = await begin(rig, null);
    expect(await timers(rig)).toEqual([]);
    await rig.pass(365 * 24 * 60 * MINUTE);
    expect(await statusOf(rig, id)).toBe('idle');
  });
});

/** Time passes while turns are under way. */
async function wait(rig: Rig, ms: number): Promise<void> {
  for (let left = ms; left > 0;) {
    const step = Math.min(left, 5_000);
    rig.clock.advance(step);
    left -= step;
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
}
