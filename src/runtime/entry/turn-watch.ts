import { isJsonObject } from '../../core/json/value.ts';
import type { SessionEvent } from '../../sessions/log/session-event.ts';

/** End of a turn. */
export interface TurnEnd {
  /** A stop reason of `session.status_idle`, or that the Session itself ended. */
  readonly type: string;
  /** The stop reason itself; null when the Session ended. */
  readonly reason: Readonly<Record<string, unknown>> | null;
  /** A client asked for the end. */
  readonly isInterrupted: boolean;
  /** False for a turn that had not begun when another, which waits for its client, came before it. */
  readonly isOwn: boolean;
  /** Error of the turn's last `session.error`. */
  readonly error: Readonly<Record<string, unknown>> | undefined;
}

/** Types of the events that decide whose turn it is; of the others only the turn's own matter. */
export const TURNING: readonly string[] = [
  'user.message',
  'user.interrupt',
  'session.status_running',
  'session.status_idle',
];

/**
 * Finds the turn of one message among the events of its Session, given all of them from the first on.
 * Turns take up messages one by one in their order, and each ends with its own idle event.
 */
export class TurnWatch {
  #message: string;
  readonly #waiting: string[] = [];
  #phase: 'idle' | 'waiting' | 'running' = 'idle';
  #current: string | undefined;
  #isInterrupted = false;
  #error: TurnEnd['error'];
  #wait: TurnEnd | undefined;

  constructor(message: string) {
    this.#message = message;
  }

  /** True while the turn is that of the message. */
  get isCurrent(): boolean {
    return this.#current === this.#message;
  }

  /** The end of all turns while the Session waits for its client. */
  get wait(): TurnEnd | undefined {
    return this.#phase === 'waiting' ? this.#wait : undefined;
  }

  /** Finds the turn that is under way in place of that of the message. */
  keepCurrent(): void {
    this.#message = this.#current ?? '';
  }

  /**
   * The end, with the event that brings it. A Session that waits for its client ends the turns of all
   * messages: it may never continue.
   */
  take(event: SessionEvent): TurnEnd | undefined {
    // Every other event is of the turn that runs.
    switch (event.type as string) {
      case 'user.message':
        this.#waiting.push(event.id);
        return undefined;
      case 'user.interrupt':
        this.#isInterrupted ||= this.#phase !== 'idle' || this.#waiting.length > 0;
        return undefined;
      case 'session.error':
        this.#error = isJsonObject(event['error']) ? event['error'] : undefined;
        return undefined;
      case 'session.status_running':
        if (this.#phase === 'idle') this.#begin();
        this.#phase = 'running';
        return undefined;
      case 'session.status_idle':
        return this.#rest(isJsonObject(event['stop_reason']) ? event['stop_reason'] : {});
      case 'session.status_terminated':
        return this.#end('terminated', null);
      case 'session.deleted':
        return this.#end('deleted', null);
      default:
        return undefined;
    }
  }

  #begin(): void {
    this.#current = this.#waiting.shift();
    this.#error = undefined;
  }

  #rest(reason: Record<string, unknown>): TurnEnd | undefined {
    const end = this.#end(String(reason['type']), reason);
    if (end.type === 'requires_action') {
      this.#phase = 'waiting';
      this.#wait = end;
      return end;
    }
    const isOwn = this.isCurrent;
    this.#phase = 'idle';
    this.#current = undefined;
    this.#isInterrupted = false;
    return isOwn ? end : undefined;
  }

  #end(type: string, reason: TurnEnd['reason']): TurnEnd {
    const { isCurrent: isOwn } = this;
    return { type, reason, isOwn, isInterrupted: this.#isInterrupted, error: this.#error };
  }
}
