import type { Session } from '../../sessions/session.ts';
import type { SessionEvent } from '../../sessions/log/session-event.ts';
import type { HistoryItem } from './history.ts';
import type { HarnessMcpServer } from './mcp-servers.ts';
import type { Scrubber } from './scrubber.ts';
import type { SkillFolder } from './skill-folders.ts';
import type { TurnRecorder } from './turn-recorder.ts';

/** Request to a harness for one turn. */
export interface HarnessPrompt {
  /** `user.message` and `system.message` events of the turn, in order. */
  readonly inputs: readonly SessionEvent[];
  /** Earlier conversation; undefined for a process that has heard it. */
  readonly history: readonly HistoryItem[] | undefined;
  /** Takes what the harness says. */
  readonly recorder: TurnRecorder;
}

/** Reason for which a turn ended. */
export type HarnessStop = 'end_turn' | 'refusal' | 'cut_short' | 'cancelled';

/** A harness that is ready for the turns of one Session, whatever it speaks. */
export interface HarnessAgent {
  /** Servers of the Agent that this harness has no use for. */
  readonly unusedServers: readonly string[];
  /** All that was said is recorded when it resolves. Rejects with `HarnessError`, or what the recorder rejects with. */
  prompt(prompt: HarnessPrompt): Promise<HarnessStop>;
  /** Asks the harness to leave the turn off; the prompt ends as it will. Never rejects. */
  cancel(): Promise<void>;
}

/** Session that a harness works for. */
export interface AgentSetting {
  readonly session: Session;
  /** A private directory. */
  readonly directory: string;
  readonly mcpServers: readonly HarnessMcpServer[];
  readonly skills: readonly SkillFolder[];
  readonly scrubber: Scrubber;
  /** Version of the gateway. */
  readonly version: string;
}
