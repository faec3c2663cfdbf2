import type { Origin } from '../audit/audit-entry.ts';
import type { NamedCall } from '../store/named-call.ts';
import type { PayingKey } from '../usage/principal.ts';
import type { RunRow } from './run-row.ts';
import type { RunStore } from './runs.ts';

/** Request for a run by hand, with its caller and its Schedule. */
export interface TriggerInput {
  readonly organization: string;
  readonly deploymentId: string;
  readonly payer: PayingKey;
  /** Actor for the audit log. Default: the gateway itself. */
  readonly by?: Origin | undefined;
  /** Written with the run, or names the run that it made before. */
  readonly named?: NamedCall | undefined;
}

/** Runs Schedules, when they are due and by hand (contract: Schedules). */
export interface Scheduler {
  readonly runs: RunStore;
  /**
   * Runs it once, paused or not. The run is durable before this resolves, which is when it is decided,
   * or after 10 seconds with the pending run.
   *
   * @throws GatewayError `not_found`; `conflict` for an archived one
   */
  trigger(input: TriggerInput): Promise<RunRow>;
  /** Fires due instants from now on. */
  start(): void;
  /** Stops claiming and waits for claims under way. Idempotent. */
  close(): Promise<void>;
}
