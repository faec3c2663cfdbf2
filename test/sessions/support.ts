import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import type { Clock } from '../../src/core/time/clock.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import type { JobsOptions } from '../../src/jobs/create-jobs.ts';
import { createSessions } from '../../src/sessions/create-sessions.ts';
import type { ResolvedAgent } from '../../src/sessions/resolved-agent.ts';
import type { SessionAnnouncer } from '../../src/sessions/log/session-log.ts';
import type { EventDelta, PlacedEvent } from '../../src/sessions/log/session-event.ts';
import type {
  FollowOptions,
  NewSession,
  Sessions,
  TurnLog,
  TurnRunner,
} from '../../src/sessions/sessions.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../src/store/store.ts';

export const ORG = 'org_1';

export const AGENT: ResolvedAgent = {
  id: 'agent_1',
  version: 2,
  name: 'helper',
  description: null,
  model: { id: 'acme/one' },
  system: 'be kind',
  tools: [],
  mcp_servers: [],
  skills: [],
  harness: null,
};

export function newSession(overrides: Partial<NewSession> = {}): NewSession {
  return {
    organization: ORG,
    payer: { keyId: 'key_1', keyName: 'first', organizationId: ORG },
    entryPoint: 'session',
    agent: AGENT,
    ...overrides,
  };
}

export const say = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });

/** Answers each message in the order in which they were sent; what it has answered it sees in the log. */
export const echoRunner: TurnRunner = {
  async run(log, signal) {
    for (;;) {
      signal.throwIfAborted();
      const next = await firstUnanswered(log);
      if (!next) return;
      if (log.session.status !== 'running') await log.append([], { status: 'running' });
      await log.append([{ type: 'span.model_request_start' }], { handled: next.seq });
      await log.append([
        { type: 'agent.message', content: next.event['content'], to: next.event.id },
      ]);
      await log.append([{ type: 'span.model_request_end', is_error: false }]);
      await log.append([idle('end_turn')], { status: 'idle' });
    }
  },
};

/** Its turns never end by themselves. */
export const pending: TurnRunner = {
  run: (_log, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('left off')));
    }),
};

async function firstUnanswered(log: TurnLog): Promise<PlacedEvent | undefined> {
  const waiting = new Map<string, PlacedEvent>();
  for await (const placed of log.events()) {
    const { type, id } = placed.event;
    if (type === 'user.message') waiting.set(id, placed);
    else if (type === 'agent.message') waiting.delete(String(placed.event['to']));
  }
  return waiting.values().next().value;
}

export const idle = (type: string, members: object = {}) => ({
  type: 'session.status_idle' as const,
  stop_reason: { type, ...members },
  stop_details: null,
});

export interface RigOptions {
  clock?: Clock;
  store?: Store;
  runner?: TurnRunner;
  worker?: string;
  report?: JobsOptions['report'];
  announce?: SessionAnnouncer;
  /** Turns at once. */
  concurrency?: number;
}

/** Sessions on a store, with their turns run in this process. */
export function createRig(options: RigOptions = {}) {
  const { clock = systemClock, worker = 'a', runner = echoRunner, report, concurrency } = options;
  const { announce } = options;
  const store = options.store ?? openMemoryStore(clock);
  const jobs = createJobs({
    store,
    clock,
    worker,
    ...(report && { report }),
    ...(concurrency !== undefined && { concurrency }),
  });
  const { sessions, handlers } = createSessions({
    store,
    clock,
    ids: createIdSource(clock),
    jobs,
    runner,
    ...(announce && { announce }),
  });
  jobs.start(handlers);
  onTestFinished(() => jobs.close());
  return { clock, store, jobs, sessions };
}

export type Rig = ReturnType<typeof createRig>;

/** Every event of the history. */
export async function historyOf(sessions: Sessions, id: string): Promise<PlacedEvent[]> {
  const all: PlacedEvent[] = [];
  for (let after: number | null = 0; after !== null;) {
    const page = await sessions.read(ORG, id, { after, limit: 500 });
    all.push(...page.events);
    after = page.next;
  }
  return all;
}

export const typesOf = (events: readonly PlacedEvent[]) => events.map(({ event }) => event.type);

/** Follows in the background; `seen` grows. */
export async function follow(sessions: Sessions, id: string, options: Partial<FollowOptions> = {}) {
  const gone = new AbortController();
  const { signal } = gone;
  const followed = await sessions.follow(ORG, id, { signal, ...options });
  const seen: (PlacedEvent | EventDelta)[] = [];
  const done = (async () => {
    for await (const item of followed) seen.push(item);
  })();
  onTestFinished(async () => {
    gone.abort();
    await done;
  });
  return { seen, done, leave: () => gone.abort() };
}

export async function settled(sessions: Sessions, id: string): Promise<boolean> {
  return (await sessions.get(ORG, id)).status === 'idle';
}
