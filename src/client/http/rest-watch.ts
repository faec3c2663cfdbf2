import type { SessionEvent } from '../../sessions/log/session-event.ts';
import { isRecord } from './guards.ts';

/** End of a Session's work. */
export interface TailEnd {
  /**
   * A stop reason of `session.status_idle`; `terminated` or `deleted`; `history` when nothing but the
   * history was asked for.
   */
  readonly type: string;
  /** Error of the turn's last `session.error`. */
  readonly error: Readonly<Record<string, unknown>> | undefined;
}

/** Types of the events that a {@link RestWatch} has to see. */
export const RESTING: readonly string[] = [
  'session.error',
  'session.status_running',
  'session.status_idle',
  'session.status_terminated',
  'session.deleted',
];

/** Knows from the events of a Session, in their order, whether it rests. */
export class RestWatch {
  #end: TailEnd | undefined;
  #isOver = false;
  #error: TailEnd['error'];

  /** Undefined while it is at work, and before its first turn. */
  get end(): TailEnd | undefined {
    return this.#end;
  }

  /** True when nothing follows. */
  get isOver(): boolean {
    return this.#isOver;
  }

  take(event: SessionEvent): void {
    const type: string = event.type;
    if (type === 'session.error') {
      this.#error = isRecord(event['error']) ? event['error'] : undefined;
    } else if (type === 'session.status_running') {
      this.#error = undefined;
      this.#end = undefined;
    } else if (type === 'session.status_idle') {
      const reason = isRecord(event['stop_reason']) ? event['stop_reason'] : {};
      this.#end = { type: String(reason['type']), error: this.#error };
    } else if (type === 'session.status_terminated' || type === 'session.deleted') {
      const word = type === 'session.deleted' ? 'deleted' : 'terminated';
      this.#end = { type: word, error: this.#error };
      this.#isOver = true;
    }
  }
}
