import { isDeepStrictEqual } from 'node:util';
import type { Clock, Timer } from '../../core/time/clock.ts';
import type { ResolvedAgent } from '../../sessions/resolved-agent.ts';
import type { Session } from '../../sessions/session.ts';
import type { Store } from '../../store/store.ts';
import type { Entry } from '../turn/conversation.ts';
import type { SessionDirectories } from './session-directories.ts';
import type { StartedAgent } from './start-agent.ts';
import { sessionKey } from '../../sessions/session-row.ts';
import type { SessionRow } from '../../sessions/session-row.ts';

/** A harness at work for a Session. */
export interface OpenAgent extends StartedAgent {
  readonly sessionId: string;
  /** Number of conversation entries that the process has heard; 0 for a fresh one. */
  readonly heard: number;
}

export interface AgentPoolOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly directories: SessionDirectories;
  readonly start: (session: Session, signal: AbortSignal) => Promise<StartedAgent>;
}

interface Kept {
  readonly open: OpenAgent;
  /** Agent that the process was started for. */
  readonly agent: ResolvedAgent;
  readonly timer: Timer;
}

/** A process without a turn lives on for so long. */
const KEEP_MS = 5 * 60_000;
const MAX_KEPT = 32;

/**
 * The harness processes of this gateway process. Between turns they wait for the next one, with all
 * that they know; the end of their Session ends them.
 */
export class AgentPool {
  readonly #options: AgentPoolOptions;
  readonly #kept = new Map<string, Kept>();
  /** All that have been started and not ended. */
  readonly #open = new Set<StartedAgent>();
  #isClosed = false;
  #sweep: Promise<void> | undefined;

  constructor(options: AgentPoolOptions) {
    this.#options = options;
  }

  /** The kept process if it has all of the conversation but the new input, else a new process. */
  async open(session: Session, entries: readonly Entry[], signal: AbortSignal): Promise<OpenAgent> {
    const { directories, store, start } = this.#options;
    this.#sweep ??= directories.sweep((id) => hasEnded(store, id));
    const kept = this.#take(session.id);
    if (kept && fits(kept, session, entries)) return kept.open;
    if (kept) await this.end(kept.open);
    const started = await start(session, signal);
    this.#open.add(started);
    const open = { ...started, sessionId: session.id, heard: 0 };
    this.#endWithSession(open, started);
    if (this.#isClosed) await this.end(open);
    return open;
  }

  /** Keeps it for the next turn. */
  keep(open: OpenAgent, { id, agent }: Session, heard: number): void {
    const drop = (): void => void this.end(open);
    if (this.#isClosed) return drop();
    const timer = this.#options.clock.setTimeout(() => {
      this.#take(id);
      drop();
    }, KEEP_MS);
    this.#kept.set(id, { open: { ...open, heard }, agent, timer });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size <= MAX_KEPT || oldest === undefined) return;
    const kept = this.#take(oldest);
    if (kept) void this.end(kept.open);
  }

  /** Ends the process and all that it started. Default grace: as declared. Never rejects. */
  end({ process, program }: StartedAgent, graceMs = program.timeouts.stop): Promise<void> {
    return process.end(graceMs);
  }

  /** Ends every process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const id of this.#kept.keys()) this.#take(id);
    await Promise.all([...this.#open].map((started) => this.end(started)));
    await this.#sweep;
  }

  #take(id: string): Kept | undefined {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    kept?.timer.cancel();
    return kept;
  }

  #endWithSession(open: OpenAgent, started: StartedAgent): void {
    const { store, directories } = this.#options;
    const { sessionId: id, process } = open;
    const unwatch = watchSessionEnd(store, id, () => void this.end(open));
    const onExit = async (): Promise<void> => {
      unwatch();
      this.#open.delete(started);
      if (this.#kept.get(id)?.open.process === process) this.#take(id);
      if (await hasEnded(store, id)) await directories.remove(id);
    };
    // A store that fails now leaves the rest to the next start of the gateway, which finds it.
    void process.exited.then(onExit).catch(() => undefined);
  }
}

/**
 * True when the process can continue: same Agent, and nothing was said on another process
 * meanwhile.
 */
function fits({ open, agent }: Kept, session: Session, entries: readonly Entry[]): boolean {
  const news = entries.slice(open.heard);
  return news.every(({ type }) => type === 'input') && isDeepStrictEqual(agent, session.agent);
}

/**
 * True when no turn of the Session will ever continue. An archived one still finishes its queued
 * input, but a turn that waits for its client gets no answer any longer. Rejects with `StoreError`.
 */
async function hasEnded(store: Store, sessionId: string): Promise<boolean> {
  const row = (await store.get<SessionRow>(sessionKey(sessionId)))?.value;
  if (!row || row.status === 'terminated') return true;
  return row.archivedAt !== null && row.status === 'idle' && row.queued === 0;
}

/** Calls back once, when the Session has ended on any process. Returns the function that stops it. */
function watchSessionEnd(store: Store, sessionId: string, onEnd: () => void): () => void {
  let isOver = false;
  const stop = (): void => {
    isOver = true;
    unwatch();
  };
  const look = async (): Promise<void> => {
    if (!(await hasEnded(store, sessionId)) || isOver) return;
    stop();
    onEnd();
  };
  // A store that fails now is asked again at the next change.
  const onChange = (): void => void look().catch(() => undefined);
  const unwatch = store.watch(sessionKey(sessionId), onChange);
  onChange();
  return stop;
}
