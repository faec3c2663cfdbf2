import { EventEmitter, once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AgentPool } from '../../../src/runtime/harness/agent-pool.ts';
import type { StartedAgent } from '../../../src/runtime/harness/start-agent.ts';
import { sessionKey } from '../../../src/sessions/session-row.ts';
import type { SessionRow } from '../../../src/sessions/session-row.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { FakeSession } from '../fake-log.ts';

type Standing = Partial<Pick<SessionRow, 'status' | 'archivedAt' | 'queued' | 'isPaused'>>;

const ARCHIVED = { archivedAt: '2026-11-21T00:00:00.000Z' };

/** A pool with one open process, which ends as soon as it is told to. */
async function openOne() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const { session } = new FakeSession();
  const left: string[] = [];
  const ending = new EventEmitter();
  const process = {
    hasEnded: false,
    exited: once(ending, 'exit'),
    async end() {
      process.hasEnded = true;
      ending.emit('exit');
    },
  };
  const pool = new AgentPool({
    store,
    clock,
    directories: {
      open: async () => '',
      remove: async (id) => void left.push(id),
      async sweep(hasEnded) {
        if (await hasEnded(session.id)) left.push('swept');
      },
    },
    start: async () => ({ process, program: { timeouts: {} } }) as unknown as StartedAgent,
  });
  /** The Session as an append leaves it, and all that follows from it. */
  const stand = async (standing: Standing): Promise<void> => {
    const usual = { status: 'running', archivedAt: null, queued: 0, isPaused: false };
    const value = { ...usual, ...standing };
    await store.commit([{ type: 'put', key: sessionKey(session.id), value }]);
    for (let round = 0; round < 10; round++) await nextTurn();
  };
  const open = (): Promise<unknown> => pool.open(session, [], new AbortController().signal);
  return { open, stand, process, left, id: session.id };
}

describe('the process of a Session that is archived', () => {
  it(
    verifies('harness.process-lifecycle', 'ends when the turn that runs has come to its end'),
    async () => {
      const { open, stand, process, left, id } = await openOne();
      await stand({});
      await open();
      await stand(ARCHIVED);
      await stand({ ...ARCHIVED, status: 'rescheduling' });
      expect(process.hasEnded).toBe(false);
      await stand({ ...ARCHIVED, status: 'idle' });
      expect(process.hasEnded).toBe(true);
      expect(left).toEqual([id]);
    },
  );

  it('ends when its turn waits for an answer, which nobody may give any more', async () => {
    const { open, stand, process } = await openOne();
    await stand({});
    await open();
    await stand({ ...ARCHIVED, status: 'idle', isPaused: true });
    expect(process.hasEnded).toBe(true);
  });

  it('stays while a message is left that was sent before', async () => {
    const { open, stand, process } = await openOne();
    await stand({});
    await open();
    await stand({ ...ARCHIVED, status: 'idle', isPaused: true, queued: 1 });
    expect(process.hasEnded).toBe(false);
  });

  it('keeps the directory of a turn that is still to end when others are swept', async () => {
    const { open, stand, left } = await openOne();
    await stand(ARCHIVED);
    await open();
    await stand(ARCHIVED);
    expect(left).toEqual([]);
  });
});
