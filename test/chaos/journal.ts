import type { Reply } from './caller.ts';
import type { GatewayNode } from './gateway-node.ts';

/** A chat that was sent, with what came back. */
export interface Chat {
  readonly mark: string;
  /** Id of the key that paid. */
  readonly keyId: string;
  readonly model: 'flat' | 'tokens';
  readonly isStream: boolean;
  readonly reply: Reply;
  /** The answer came to its end. */
  readonly isAnswered: boolean;
}

export interface MadeKey {
  readonly id: string;
  readonly value: string;
  /** When the revocation was acknowledged, on the clock of the machine. */
  revokedAt?: number;
  isRevocationSent?: boolean;
}

/** A request with a key behind the acknowledgement of its revocation. */
export interface Probe {
  readonly key: MadeKey;
  readonly reply: Reply;
}

export const AGENT_KINDS = ['http-tool', 'stdio-tool', 'harness', 'plain'] as const;
export type AgentKind = (typeof AGENT_KINDS)[number];

export interface SessionNote {
  readonly id: string;
  readonly kind: AgentKind;
  /** Every message that was sent: its mark, and its id when it was acknowledged. */
  readonly messages: { readonly mark: string; readonly id: string | undefined }[];
  readonly tails: TailNote[];
}

/** What one follower of a Session was told, across all its connections. */
export interface TailNote {
  /** The event that it began behind. */
  readonly after: string;
  readonly ids: string[];
  connections: number;
}

export interface RunNote {
  readonly id: string;
  readonly deployment: string;
  /** Null where the answer did not wait for it. */
  readonly session: string | null;
}

export const NAMED_KINDS = ['agent', 'session', 'message', 'trigger', 'run'] as const;
export type NamedKind = (typeof NAMED_KINDS)[number];

/** A call with an `Idempotency-Key`. */
export interface NamedNote {
  readonly kind: NamedKind;
  readonly mark: string;
  /** The Schedule of triggers. */
  readonly place: string;
  outcome: 'open' | 'made' | 'failed' | 'unknown';
  /** What every answer named. */
  readonly ids: string[];
}

export interface FaultNote {
  readonly kind: string;
  readonly target: string;
  /** Milliseconds since the load began. */
  readonly at: number;
  readonly forMs: number;
}

/** What the driver itself saw and was told: the side of the proof that is not the gateway's. */
export class Journal {
  readonly replies: Reply[] = [];
  readonly chats: Chat[] = [];
  readonly keys: MadeKey[] = [];
  readonly probes: Probe[] = [];
  readonly agents: { readonly id: string; readonly name: string }[] = [];
  readonly sessions: SessionNote[] = [];
  readonly deployments: {
    readonly id: string;
    readonly isCron: boolean;
    readonly madeAt: number;
  }[] = [];
  readonly runs: RunNote[] = [];
  readonly named: NamedNote[] = [];
  readonly faults: FaultNote[] = [];
  /** Revisions of the applied configuration: the last one that was tried, and that succeeded. */
  readonly applied = { tried: 0, acknowledged: 0, count: 0 };
  #marks = 0;

  /** Words that nobody else has said. */
  newMark(prefix: 'c' | 's' | 'p' | 'k' | 'n'): string {
    return `${prefix}${++this.#marks}`;
  }

  /** Operations by kind and by what came of them. */
  counts(): Record<string, Record<string, number>> {
    const { tried, count } = this.applied;
    const counts: Record<string, Record<string, number>> = {
      apply: { done: count, failed: tried - count },
    };
    for (const { what, status, problem } of this.replies) {
      const row = (counts[what] ??= {});
      const outcome = status === 0 || problem !== '' ? `${status} ${toWord(problem)}` : `${status}`;
      row[outcome] = (row[outcome] ?? 0) + 1;
    }
    return counts;
  }
}

const toWord = (problem: string): string =>
  /E[A-Z]{4,}|hang up|left|cut|aborted/.exec(problem)?.[0] ?? problem;

export const isOk = ({ status, isWhole }: Reply): boolean =>
  isWhole && status >= 200 && status < 300;

export const nodeNames = (nodes: readonly GatewayNode[]): string =>
  nodes.map(({ name }) => name).join(' ');
