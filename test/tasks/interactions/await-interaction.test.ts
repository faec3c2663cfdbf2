import { describe, expect, it } from 'vitest';
import { ActiveExchanges } from '../../../src/inference/active-exchanges.ts';
import { awaitInteraction } from '../../../src/tasks/interactions/await-interaction.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';

const WAIT_MS = 10_000;
const STEP_MS = 12.5;

/** A wait for work that its provider tells as `statuses`, one after the other; the last stays. */
function wait(...statuses: (string | Error)[]) {
  const clock = createFakeClock();
  const active = new ActiveExchanges();
  const looks: number[] = [];
  const leaving = new Set<() => void>();
  const client = {
    gone: false,
    onGone(listener: () => void) {
      leaving.add(listener);
      return () => leaving.delete(listener);
    },
  };
  const lookUp = async () => {
    looks.push(clock.monotonic());
    const status = statuses.length > 1 ? statuses.shift() : statuses[0];
    if (status instanceof Error) throw status;
    const body = Buffer.from(JSON.stringify({ id: 'int_1', status }));
    return { seen: { seen: { id: 'int_1', status, value: {} }, body, kept: undefined } };
  };
  const ended = awaitInteraction(
    { value: { showsLogicalModel: false } } as never,
    { request: { startedAt: 0, client } } as never,
    {
      tasks: { lookUp } as never,
      deps: { inference: { clock, active }, interactionWaitMs: WAIT_MS } as never,
    },
  );
  return { clock, active, client, looks, leaving, ended };
}

async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += STEP_MS) {
    clock.advance(STEP_MS);
    await new Promise(setImmediate);
  }
}

describe('the wait for an Interaction', () => {
  it('ends when the work does, and looks less and less often till then', async () => {
    const { clock, looks, leaving, ended } = wait('in_progress', 'in_progress', 'completed');
    await pass(clock, 2_000);
    expect((await ended)?.seen.status).toBe('completed');
    expect(looks).toEqual([250, 625, 1_187.5]);
    expect([leaving.size, clock.pending]).toEqual([0, 0]);
  });

  it('goes on behind a look that fails', async () => {
    const { clock, ended } = wait(new Error('refused'), 'completed');
    await pass(clock, 1_000);
    expect((await ended)?.seen.status).toBe('completed');
  });

  it('gives what was seen last when its time is over, and nothing where no look succeeded', async () => {
    const seen = wait('in_progress');
    await pass(seen.clock, WAIT_MS);
    expect((await seen.ended)?.seen.status).toBe('in_progress');
    const unseen = wait(new Error('refused'));
    await pass(unseen.clock, WAIT_MS);
    expect(await unseen.ended).toBeUndefined();
  });

  it('ends at once when the gateway stops', async () => {
    const { clock, active, ended } = wait('in_progress');
    await pass(clock, 300);
    active.shutDown();
    expect((await ended)?.seen.status).toBe('in_progress');
    expect(clock.pending).toBe(0);
  });

  it('ends at once when the client goes', async () => {
    const { clock, client, leaving, looks, ended } = wait('in_progress');
    await pass(clock, 300);
    client.gone = true;
    for (const leave of leaving) leave();
    expect((await ended)?.seen.status).toBe('in_progress');
    expect(looks.length).toBe(2);
  });
});
