import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import { createSessions } from '../../src/sessions/create-sessions.ts';
import type { PlacedEvent } from '../../src/sessions/log/session-event.ts';
import { openLmdbStore } from '../../src/store/backends/lmdb/open-lmdb-store.ts';
import { temporaryDirectory } from '../conformance/store-kill.ts';
import { verifies } from '../requirements.ts';
import { eventually } from '../support/gateway.ts';
import { bundleScript } from '../support/process/bundle-script.ts';
import { forkScript } from '../support/process/fork-script.ts';
import { follow, historyOf, newSession, ORG, say, settled, typesOf } from './support.ts';

const SCRIPT = fileURLToPath(new URL('./worker-process.ts', import.meta.url));

async function startWorker(directory: string, name: string, told: object[]): Promise<ChildProcess> {
  const worker = await forkScript(await bundleScript(SCRIPT), [directory, name]);
  worker.on('message', (message: object) => void told.push(message));
  return worker;
}

/** Two processes that run turns, and this one, which runs none. */
async function setUp() {
  const directory = await temporaryDirectory();
  const store = await openLmdbStore(directory, systemClock);
  onTestFinished(() => store.close());
  const clock = systemClock;
  const jobs = createJobs({ store, clock, worker: 'parent' });
  const runner = { run: async () => undefined };
  const { sessions } = createSessions({ store, clock, ids: createIdSource(clock), jobs, runner });
  const told: object[] = [];
  const workers = await Promise.all(['a', 'b'].map((name) => startWorker(directory, name, told)));
  return { store, jobs, sessions, told, workers };
}

const numbers = (events: readonly PlacedEvent[]) => events.map(({ seq }) => seq);

it(
  verifies(
    'sessions.events.total-order',
    'sessions.stream.no-gap',
    'sessions.turn.crash-recovery',
    'Sessions of several processes on one disk store have one order, and go on elsewhere after kill -9',
  ),
  async () => {
    const stand = await setUp();
    await expectOneOrder(stand);
    stand.told.length = 0;
    await expectRecovery(stand);
  },
);

type Stand = Awaited<ReturnType<typeof setUp>>;

/** Whoever follows sees each event once, in the order that all see. */
async function expectOneOrder({ sessions, told, workers }: Stand): Promise<void> {
  const { session } = await sessions.create(newSession());
  const early = await follow(sessions, session.id);
  for (const worker of workers) worker.send({ send: 15, organization: ORG, id: session.id });
  const own = Array.from({ length: 15 }, (_, index) =>
    sessions.send(ORG, session.id, [say(`own ${index}`)]),
  );
  await Promise.all(own.slice(0, 5));
  const middle = await historyOf(sessions, session.id);
  const after = middle.at(-1)?.event.id;
  const late = await follow(sessions, session.id, { after });
  await Promise.all(own);
  await eventually(() => told.length === 2);
  await eventually(() => settled(sessions, session.id));
  const answered = async () =>
    typesOf(await historyOf(sessions, session.id)).filter((type) => type === 'agent.message');
  await eventually(async () => (await answered()).length === 45);
  await eventually(() => settled(sessions, session.id));
  const history = await historyOf(sessions, session.id);
  expect(numbers(history)).toEqual(history.map((_, index) => index + 1));
  await eventually(() => early.seen.length === history.length);
  expect(early.seen).toEqual(history);
  await eventually(() => late.seen.length === history.length - middle.length);
  expect([...middle, ...late.seen]).toEqual(history);
}

/** A turn goes on elsewhere after kill -9 in its middle. */
async function expectRecovery({ store, jobs, sessions, told, workers }: Stand): Promise<void> {
  const { session } = await sessions.create(newSession({ title: 'hang', events: [say('go')] }));
  const hanging = (await eventually(() => told[0], 20_000)) as { hanging: string };
  const [dead, living] = hanging.hanging === 'a' ? workers : workers.toReversed();
  dead?.kill('SIGKILL');
  if (dead) await once(dead, 'exit');
  expect((await sessions.get(ORG, session.id)).status).toBe('running');
  // As if 30 seconds had passed; a commit makes the other process look.
  living?.send({ aheadMs: 30_000 });
  await eventually(async () => {
    await jobs.add({ kind: 'session-turn', id: 'nobody', payload: null });
    return settled(sessions, session.id);
  });
  expect(typesOf(await historyOf(sessions, session.id))).toEqual([
    'user.message',
    'session.status_running',
    'span.model_request_start',
    'span.model_request_start',
    'agent.message',
    'span.model_request_end',
    'session.status_idle',
  ]);
  await eventually(async () => (await store.list({ prefix: ['job'] })).length === 0);
}
