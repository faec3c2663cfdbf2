import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import type { Log, LogFields } from '../../../src/core/log.ts';
import { createJobs } from '../../../src/jobs/create-jobs.ts';
import { createHarnessRunner } from '../../../src/runtime/harness/create-harness-runner.ts';
import type { HarnessRunner } from '../../../src/runtime/harness/create-harness-runner.ts';
import { createReaper } from '../../../src/runtime/reaper/create-reaper.ts';
import type { Reaper } from '../../../src/runtime/reaper/create-reaper.ts';
import { findByEnvironment, readProcessTable } from '../../../src/runtime/reaper/process-table.ts';
import { createSessions } from '../../../src/sessions/create-sessions.ts';
import type { ResolvedAgent } from '../../../src/sessions/resolved-agent.ts';
import type { SessionEvent } from '../../../src/sessions/log/session-event.ts';
import type { Session } from '../../../src/sessions/session.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { eventually } from '../../support/gateway.ts';
import { fakeAgent } from '../fake-agent.ts';
import { harnessOptions, quietLog } from './harness-options.ts';
import type { HarnessTestOptions } from './harness-options.ts';

export interface StandOptions extends HarnessTestOptions {
  readonly agent?: Partial<ResolvedAgent>;
  readonly directory?: string;
  readonly store?: Store;
  /** One that outlives the stand. Default: one of its own. */
  readonly reaper?: Reaper;
}

/** A gateway's Sessions with one harness. */
export interface Stand {
  readonly store: Store;
  readonly session: Session;
  readonly runner: HarnessRunner;
  readonly directory: string;
  readonly logged: { message: string; fields: LogFields }[];
  readonly sessions: ReturnType<typeof createSessions>['sessions'];
  say(text: string): Promise<void>;
  send(...events: unknown[]): Promise<SessionEvent[]>;
  events(): Promise<SessionEvent[]>;
  /** All events, when the nth idle event is among them. */
  idle(times?: number): Promise<SessionEvent[]>;
  /** What the program noted. */
  notes(): Promise<any[]>;
  /** Living processes of the harness and what it started. */
  processes(): Promise<number>;
  stop(): Promise<void>;
}

const startReaper = (log: Log): Reaper => createReaper({ log, execArgv: ['--import', 'tsx'] });

/** One for all stands of a test file: its start takes longer than most turns. */
export function reaperOfFile(): Reaper {
  const reaper = startReaper(quietLog);
  afterAll(() => reaper.close());
  return reaper;
}

const WHO = { keyId: 'key_1', keyName: 'one', organizationId: 'org_1' };

export async function createStand(options: StandOptions): Promise<Stand> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'harness-')));
  const parts = harnessOptions(directory, options);
  const { clock, ids } = parts;
  const logged: Stand['logged'] = [];
  const log = createTestLog(logged);
  const store = options.store ?? openMemoryStore(clock);
  const reaper = options.reaper ?? startReaper(log);
  const runner = createHarnessRunner({ ...parts, store, reaper, log });
  const jobs = createJobs({ store, clock, worker: ids.next('worker') });
  const { sessions, handlers } = createSessions({ store, clock, ids, jobs, runner });
  jobs.start(handlers);
  await writeFile(join(directory, 'notes'), '');
  const { session } = await sessions.create({
    organization: WHO.organizationId,
    payer: WHO,
    entryPoint: 'session',
    agent: fakeAgent({ harness: 'tester', ...options.agent }),
  });

  const stop = async (): Promise<void> => {
    await jobs.close();
    await runner.close();
    if (!options.reaper) await reaper.close();
  };
  onTestFinished(async () => {
    await stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  });
  const send: Stand['send'] = (...events) => sessions.send(WHO.organizationId, session.id, events);
  const events = async (): Promise<SessionEvent[]> => {
    const page = await sessions.read(WHO.organizationId, session.id, { limit: 1_000 });
    return page.events.map(({ event }) => event);
  };
  return {
    store,
    session,
    runner,
    directory,
    logged,
    sessions,
    send,
    events,
    stop,
    async say(text) {
      await send({ type: 'user.message', content: [{ type: 'text', text }] });
    },
    idle: (times = 1) =>
      eventually(async () => {
        const all = await events();
        return all.filter(({ type }) => type === 'session.status_idle').length >= times && all;
      }, 20_000),
    notes: () => readNotes(directory),
    processes: () => countProcesses(directory),
  };
}

export async function readNotes(directory: string): Promise<any[]> {
  const text = await readFile(join(directory, 'notes'), 'utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)));
}

/** The directory of the test stands in the environment of everything that its harness starts. */
export async function countProcesses(directory: string): Promise<number> {
  const table = await readProcessTable();
  return (await findByEnvironment(table, [join(directory, 'notes')])).length;
}

function createTestLog(logged: Stand['logged']): Log {
  const note = (message: string, fields: LogFields = {}): void =>
    void logged.push({ message, fields });
  return { debug: note, info: note, warn: note, error: note, flush: () => undefined };
}

/** The events of one type. */
export const ofType = (events: readonly SessionEvent[], type: string): SessionEvent[] =>
  events.filter((event) => event.type === type);

export const typesOf = (events: readonly SessionEvent[]): string[] =>
  events.map(({ type }) => type);
