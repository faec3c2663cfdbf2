import type { NewEvent } from '../../sessions/log/session-event.ts';

const MESSAGES = {
  unavailable: 'the harness of this agent is not available here',
  start_failed: 'the harness could not be started',
  exited: 'the harness ended unexpectedly',
  invalid_output: 'the harness wrote something that is not of its protocol',
  too_much_output: 'the harness wrote more than a turn may have',
  timed_out: 'the harness took longer than it may',
  failed: 'the harness failed',
  cancelled: 'the harness gave the turn up',
  cut_short: 'the harness reached a limit of its own before the end of the turn',
  interrupted: 'the turn was cut off and may have had effects; it is not repeated',
} as const;

export type HarnessFault = keyof typeof MESSAGES;

/** A turn that a harness did not bring to its end; the message is fit for the client. */
export class HarnessError extends Error {
  override readonly name = 'HarnessError';
  readonly code: HarnessFault;

  constructor(code: HarnessFault, detail?: string) {
    super(detail === undefined ? MESSAGES[code] : `${MESSAGES[code]}: ${detail}`);
    this.code = code;
  }
}

/** `session.error` of a type that official clients know; `code` is the fault, for programs. */
export function toHarnessEvent(
  { code, message }: HarnessError,
  retry: 'retrying' | 'exhausted',
): NewEvent {
  return {
    type: 'session.error',
    error: { type: 'unknown_error', code, message, retry_status: { type: retry } },
  };
}
