import type { Clock } from '../core/clock.ts';
import type { Session } from '../sessions/session.ts';
import type { TurnSkill } from './instructions.ts';
import type { ModelCaller } from './model-caller.ts';
import type { ServerPool } from './server-pool.ts';
import type { ToolServers } from './tools/tool-server.ts';
import type { TurnJournal } from './turn-journal.ts';

export interface ModelLoopDeps {
  model: ModelCaller;
  servers: ToolServers;
  /** Those of the Session's Agent that are still there. */
  skills(session: Session): Promise<readonly TurnSkill[]>;
  clock: Clock;
  /** Uniform in [0, 1). */
  random(): number;
  /** Told of what only a bug can throw; the client reads of an internal error. */
  onBug(thrown: unknown, sessionId: string): void;
}

/** What the steps of one go share. */
export interface TurnContext {
  readonly journal: TurnJournal;
  readonly pool: ServerPool;
  readonly deps: ModelLoopDeps;
  readonly instructions: string;
  /** Calls that a former go may have begun; what came of them is unknown. */
  readonly suspects: ReadonlySet<string>;
  /** Leave off without a word. */
  readonly signal: AbortSignal;
}
