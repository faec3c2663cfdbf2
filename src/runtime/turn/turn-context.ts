import type { Clock } from '../../core/time/clock.ts';
import type { ResolvedAgent } from '../../sessions/resolved-agent.ts';
import type { AttachedFiles } from './attached-files.ts';
import type { ModelCaller } from './model-caller.ts';
import type { ServerPool } from '../tools/server-pool.ts';
import type { ToolServers } from '../tools/tool-server.ts';
import type { TurnContent } from './turn-content.ts';
import type { TurnJournal } from './turn-journal.ts';

export interface ModelLoopDeps extends TurnContent {
  model: ModelCaller;
  servers: ToolServers;
  clock: Clock;
  /** Uniform in [0, 1). */
  random(): number;
  /** Receives errors that only a bug can throw; the client reads of an internal error. */
  onBug(thrown: unknown, sessionId: string): void;
}

/** State that the steps of one turn share. */
export interface TurnContext {
  readonly journal: TurnJournal;
  readonly pool: ServerPool;
  readonly deps: ModelLoopDeps;
  /** Agent of the turn, and the tool that its Skills are read by. */
  readonly agent: ResolvedAgent;
  readonly instructions: string;
  readonly files: AttachedFiles;
  /** Ids of the calls that this go began, and of those that a former one may have begun. */
  readonly begun: Set<string>;
  /** Leave off without a word. */
  readonly signal: AbortSignal;
}
