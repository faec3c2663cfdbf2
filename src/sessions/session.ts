import type { PayingKey } from '../usage/principal.ts';
import type { ResolvedAgent } from './resolved-agent.ts';

/** The most that a Session may cost by list prices. */
export interface SessionBudget {
  readonly type: 'limit';
  readonly max_list_cost: MonetaryAmount;
}

/** `amount` counts the minor units of the currency: `2500` is $25.00. */
export interface MonetaryAmount {
  readonly amount: string;
  readonly currency: 'USD';
}

/** Contract: States and transitions; decisions: Session status values. */
export type SessionStatus = 'idle' | 'running' | 'rescheduling' | 'terminated';

/** Door by which the Session was made; one id means the same Session through all of them. */
export type EntryPoint = 'session' | 'service' | 'schedule';

/** How the work of a Session ended last. */
export interface SessionRest {
  /** A stop reason of `session.status_idle`, `interrupted` or `terminated`. */
  readonly reason: string;
  /** Error of the turn that ended. */
  readonly message: string | null;
}

/** Tokens of all model calls so far, by the class they are priced in. */
export interface SessionUsage {
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens: number;
  cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };
}

/**
 * A Session as the store holds it. Its events are rows of their own; `head` counts them, and every
 * commit that appends one writes this row with `ifVersion`, so that there is one total order.
 */
export interface Session {
  /** `sess_…` */
  readonly id: string;
  readonly organization: string;
  /** Payer of its model calls. */
  readonly payer: PayingKey;
  readonly status: SessionStatus;
  readonly entryPoint: EntryPoint;
  readonly endpointId: string | null;
  readonly deploymentId: string | null;
  /** Run of the Schedule that made it. Absent: no run, or one from before it was kept. */
  readonly runId?: string | undefined;
  /** The Agent as it was when the Session was made (requirement sessions.create.pins-version). */
  readonly agent: ResolvedAgent;
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** Stored and shown, not applied. */
  readonly environmentId: string;
  readonly vaultIds: readonly string[];
  readonly resources: readonly unknown[];
  /** The model loop stops when it is used up. */
  readonly budget: SessionBudget | null;
  readonly usage: SessionUsage;
  /** Cost of all model calls so far by list prices, in nano-dollars. */
  readonly cost: number;
  /** True: of some model calls the cost is unknown, and not in the sum. Absent: false. */
  readonly unpriced?: boolean | undefined;
  /** Milliseconds in which it was `running`, up to `runningSince`. */
  readonly activeMs: number;
  /** Milliseconds since epoch; null or absent unless `running`. */
  readonly runningSince?: number | null;
  /** How its work ended last. Absent: it works, has not begun, or did so before this was kept. */
  readonly rest?: SessionRest | undefined;
  /** Number of turns that began; absent for a Session from before they were counted. */
  readonly turns?: number | undefined;
  /** Ids of the events that the client must answer before the turn continues. */
  readonly awaiting: readonly string[];
  /** Milliseconds since epoch at which it began to wait for them; null or absent: it does not, or was not noted. */
  readonly waitingSince?: number | null;
  /** Number of the last event; the first is 1. */
  readonly head: number;
  /** Number of the last input event that a turn has seen. */
  readonly handled: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly archivedAt: string | null;
  /** Removed events: all up to a number, since when (ISO 8601). Absent: none. */
  readonly removed?: { readonly upTo: number; readonly at: string } | undefined;
}
