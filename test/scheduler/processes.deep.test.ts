import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agent } from '../../src/resources/kinds/agent.ts';
import { deployment } from '../../src/resources/kinds/deployment.ts';
import { organization } from '../../src/resources/kinds/organization.ts';
import type { RunRow } from '../../src/scheduler/run-row.ts';
import { slotKey, statusOf } from '../../src/scheduler/run-row.ts';
import type { SessionRow } from '../../src/sessions/session-row.ts';
import { openLmdbStore } from '../../src/store/backends/lmdb/open-lmdb-store.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryDirectory } from '../conformance/store-kill.ts';
import { verifies } from '../requirements.ts';
import { eventually } from '../support/gateway.ts';
import { bundleScript } from '../support/process/bundle-script.ts';
import { forkScript } from '../support/process/fork-script.ts';
import { createFileClock } from './file-clock.ts';
import { openRepository, say } from './support.ts';

const SCRIPT = fileURLToPath(new URL('../fixtures/schedule-process.ts', import.meta.url));
const HOUR = 3_600_000;
const PROCESSES = 2;
const SCHEDULES = 12;
const ROUNDS = 6;
const KILLS = 2;
/** What a dead process held is let go after this time. */
const LEASE_MS = 35_000;
/** While all live, a round is over before. */
const PATIENCE_MS = 300;

/** Schedules that are due every hour, and the clock of all who fire them. */
async function setUp() {
  const directory = await temporaryDirectory();
  const file = join(directory, 'clock');
  const setClock = (at: number): void => {
    writeFileSync(`${file}.next`, String(at));
    // Nobody ever reads half a time.
    renameSync(`${file}.next`, file);
  };
  const begun = Date.UTC(2026, 10, 21);
  setClock(begun);
  const clock = createFileClock(file);
  const store = await openLmdbStore(join(directory, 'store'), clock);
  onTestFinished(() => store.close());
  const repository = openRepository(store, clock);
  const { id: owner } = (
    await repository.create(organization, { name: 'home' }, { organization: null })
  ).stored;
  const scope = { organization: owner };
  const { stored } = await repository.create(agent, { name: 'Coder', model: 'acme/fast' }, scope);
  const definition = repository.definitionOf(deployment.kind);
  const schedule = { type: 'cron', expression: '0 * * * *', timezone: 'UTC' };
  const body = { agent_id: stored.id, initial_events: [say('Go.')], schedule };
  const made = Array.from({ length: SCHEDULES }, (_, index) =>
    repository.create(definition, { name: `report ${index}`, ...body }, scope),
  );
  const ids = (await Promise.all(made)).map((one) => one.stored.id);
  const start = async (name: string) =>
    forkScript(await bundleScript(SCRIPT), [join(directory, 'store'), name], {
      env: { TEST_CLOCK_FILE: file },
    });
  return { store, setClock, begun, ids, start };
}

async function rowsOf<T>(store: Store, prefix: string): Promise<T[]> {
  const rows = await store.list<T>({ prefix: [prefix], limit: 10_000 });
  return rows.map(({ value }) => value);
}

describe('several processes on one disk store', () => {
  it(
    verifies(
      'scheduler.one-run-per-slot',
      'deployments.trigger.one-session',
      'fire every instant once, with one Session, while one after the other is killed',
    ),
    { timeout: 400_000 },
    async () => {
      const { store, setClock, begun, ids, start } = await setUp();
      const names = Array.from({ length: PROCESSES }, (_, index) => `worker ${index}`);
      const alive = await Promise.all(names.map(start));
      let starting: Promise<void> | undefined;
      let kills = 0;
      for (let round = 1; round <= ROUNDS; round++) {
        setClock(begun + round * HOUR);
        if (kills < KILLS && round % 3 === 1) {
          await starting;
          const victim = Math.floor(Math.random() * alive.length);
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 80));
          alive.splice(victim, 1)[0]?.kill('SIGKILL');
          kills++;
          starting = start(`replacement ${kills}`).then((child) => void alive.push(child));
        }
        const looked = performance.now();
        await eventually(async () => {
          for (const { exitCode, log } of alive) expect(exitCode, log()).toBeNull();
          const runs = await rowsOf<RunRow>(store, 'schedule-run');
          const decided = runs.filter((run) => statusOf(run) !== 'pending').length;
          if (decided === ids.length * round) return true;
          // Then it goes on, faster than the wall's: leases run out, and what failed is due again.
          const late = performance.now() - looked - PATIENCE_MS;
          if (late > 0) setClock(begun + round * HOUR + LEASE_MS + 10 * late);
          return false;
        }, HOUR / 20);
      }
      expect(kills).toBe(KILLS);
      await starting;

      const instants = Array.from({ length: ROUNDS }, (_, index) => begun + (index + 1) * HOUR);
      const expected = ids.flatMap((id) => instants.map((at) => `${id} ${at}`)).sort();
      const runs = await rowsOf<RunRow>(store, 'schedule-run');
      const fired = runs.map(({ deploymentId, trigger }) =>
        trigger.type === 'schedule' ? `${deploymentId} ${trigger.scheduledAt}` : 'by hand',
      );
      expect(fired.sort()).toEqual(expected);
      expect(new Set(runs.map(statusOf))).toEqual(new Set(['succeeded']));
      const sessions = await rowsOf<SessionRow>(store, 'session');
      const made = new Set(sessions.map(({ id }) => id));
      expect(made).toEqual(new Set(runs.map(({ sessionId }) => sessionId)));
      expect(sessions).toHaveLength(runs.length);
      for (const { id, deploymentId, trigger } of runs) {
        const at = trigger.type === 'schedule' ? trigger.scheduledAt : 0;
        expect((await store.get(slotKey(deploymentId, at)))?.value).toBe(id);
      }
      expect(await rowsOf(store, 'schedule-pending')).toEqual([]);
    },
  );
});
