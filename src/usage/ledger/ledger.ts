import type { LimitReached } from '../../core/errors.ts';
import type { Usage } from '../../core/usage.ts';
import type { Budget } from '../budgets/budget.ts';
import type { RequestOrigin } from '../origin.ts';
import type { Principal } from '../principal.ts';
import type { PendingClaim } from '../rates/pending-claim.ts';

/** Facts that are known before the first candidate is tried. */
export interface RequestStart {
  /** `req_…`, also the value of the `x-request-id` response header. */
  id: string;
  /** Milliseconds since epoch. */
  at: number;
  principal: Principal;
  /** `chat`, `responses`, `messages` … */
  surface: string;
  /** The logical model that the name of the client leads to. */
  model: string;
  /** Name that the client asked for where it is another one of the model. */
  alias?: string | undefined;
  stream: boolean;
  /** Absent: nothing is known. */
  origin?: RequestOrigin | undefined;
  /** The most that the call can cost, in nano-dollars. */
  bound: number;
  /** The most tokens that it can use, input and output. Default 0. */
  tokens?: number | undefined;
  /** Model that answers in place of `model` because a budget is spent. Default: none. */
  downgrade?: Downgrade | undefined;
  /** Cost of an answer without any output. Default: nothing. */
  estimate?: Estimate | undefined;
  /**
   * Claims on rates that the call was let in with; where one is turned away, it never began. To be waited for
   * before anything is sent. Default: none.
   */
  claims?: readonly PendingClaim[] | undefined;
}

export interface Downgrade {
  readonly model: string;
  /** Ids of the budgets that led there: they count the call and no longer refuse it. */
  readonly spared: ReadonlySet<string>;
}

/** Cost of a call as far as it is known while it runs; the charge if its process dies. */
export interface Estimate {
  /** Tokens. */
  readonly input: number;
  readonly output: number;
  /** Nano-dollars. */
  readonly cost: number;
}

export interface Discarded {
  readonly usage: Usage;
  /** Nano-dollars. */
  readonly cost: number;
  /** True: a part of its price is unknown. */
  readonly unpriced?: boolean | undefined;
}

export type AttemptVerdict = 'retried here' | 'next route' | 'final';

export interface AttemptRecord {
  provider: string;
  /** The provider's own model name. */
  model: string;
  /** Upstream HTTP status, or null when none arrived. */
  status: number | null;
  /** `ok`, or why the candidate was left: `status_503`, `timeout_first_content`, `connect`, `cooldown` … */
  outcome: string;
  /** Milliseconds spent on the attempt. */
  ms: number;
  /** Detail of a connection that could not be made or broke, such as `ECONNREFUSED`. */
  cause?: string | undefined;
  /** Host and port of that connection, only for the log. */
  address?: string | undefined;
  /** Next step after the attempt; absent on records of older versions. */
  verdict?: AttemptVerdict | undefined;
  /** Present: it was made with the client's own credential. */
  credential?: 'client' | undefined;
  /** A 200 that was no answer, and whose provider reported usage. Included in the sums of the record. */
  discarded?: Discarded | undefined;
}

/** Outcome of a request. */
export interface RequestOutcome {
  /** The HTTP status that the client got; 499 when it went away first. */
  status: number;
  /** `ok`, `error`, `aborted`, `interrupted` (reported in the stream). */
  result: 'ok' | 'error' | 'aborted' | 'interrupted';
  errorCode?: string | undefined;
  /** Limit that refused the request. Default: none did. */
  limit?: LimitReached | undefined;
  /** Logical model that answered (differs after a model fallback), with its provider. */
  answeredBy?: { model: string; provider: string; upstreamModel: string } | undefined;
  attempts: AttemptRecord[];
  /** Usage of the answer and of the discarded ones before it. */
  usage: Usage;
  /** True when the provider gave no usage and the numbers are the gateway's estimate. */
  estimated: boolean;
  /** Nano-dollars; of calls with `unpriced` the part that is known. */
  cost: number;
  /** True when the answer came by a route whose price is unknown. Default false. */
  unpriced?: boolean | undefined;
  losses: string[];
  /** Microseconds that the gateway itself spent before the upstream request was sent. */
  overheadUs: number;
  /** Milliseconds to the first content byte, null when none came. */
  firstContentMs: number | null;
  totalMs: number;
  /** Present when content logging is switched on. */
  content?: { request: string; response: string } | undefined;
}

/** The entry of one request in the ledger. */
export interface LedgerEntry {
  /**
   * Undefined: send at once. Else resolves when the reservation is committed, and rejects with
   * `key_spending_limit`, `organization_spending_limit`, `key_rate_limited` or `persistence_failed`.
   */
  readonly admitted: Promise<void> | undefined;
  /** Resolves when the start of the record is durable; rejects with `persistence_failed`. Never unhandled. */
  readonly durable: Promise<void>;
  /** True once `durable` has resolved, so that nothing needs to be waited for. */
  readonly isDurable: boolean;
  /**
   * Undefined where no spending limit applies. Else an answer ends when this resolves: once the settlement is
   * durable, or the store fails; then the reservation stays, and counts as the charge. Never rejects.
   */
  readonly settled: Promise<void> | undefined;
  /** Budget that refused it, once `admitted` has rejected. */
  readonly refusedBy?: Budget | undefined;
  /** Asks every few seconds for the cost so far and stores it, until the call is settled. */
  follow(soFar: () => Estimate): void;
  /** Writes the final record, releases the reservation and counts the cost; only the first call acts. */
  settle(outcome: RequestOutcome): void;
}

/** Starts and ends request records (design: inference, steps 6 and 7). */
export interface Ledger {
  /** Throws `persistence_failed` at once while the store is known to fail. */
  begin(start: RequestStart): LedgerEntry;
  /**
   * Refuses a principal whose key or organization has already spent its limit, before the body is
   * read: throws (or rejects with) `key_spending_limit`, `organization_spending_limit` or, for tokens,
   * `key_rate_limited`. Without a limit it returns at once.
   */
  checkFunds(principal: Principal): void | Promise<void>;
  /** Resolves when every settled entry is durable. */
  drain(): Promise<void>;
}
