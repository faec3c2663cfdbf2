import type { Clock, Timer } from '../../../core/time/clock.ts';
import type { SessionEvent } from '../../../sessions/log/session-event.ts';
import { toNotification } from '../json-rpc.ts';
import type { SentMessage } from '../service-runs.ts';
import { toEventId } from './event-id.ts';
import type { CallPosition } from './event-id.ts';

/** The way to a client ahead of the answer to its request. */
export interface McpChannel {
  /** Sends a notification. With an event id, the client can resume the stream after it. */
  notify(notification: object, eventId: string | undefined): Promise<void>;
  /** Sends an event id to resume from, without a message. */
  mark(eventId: string): Promise<void>;
  /** Sends a request, whose answer is a POST of its own. Absent: the client takes none. */
  readonly ask?: ((request: object) => Promise<void>) | undefined;
}

/** Discards progress: the answer is all that the client reads. */
export const NO_CHANNEL: McpChannel = {
  notify: async () => undefined,
  mark: async () => undefined,
};

/**
 * Milliseconds between two notifications at most. Clients give up after a silence of their own; the
 * contract with them is 15 seconds, network included.
 */
const SILENCE_MS = 10_000;

export interface CallProgressOptions extends Pick<CallPosition, 'requestId' | 'progressToken'> {
  readonly clock: Clock;
  readonly channel: McpChannel;
  /** Progress that the client saw before it came back. Default: none. */
  readonly before?: Pick<CallPosition, 'told' | 'progress'>;
}

/** Notifies a client that its call is in flight, at every event of the turn and in silence. */
export class CallProgress {
  readonly #options: CallProgressOptions;
  #sent: SentMessage | undefined;
  /** Events of the turn so far; those of `before` were sent. */
  #events = 0;
  #progress: number;
  #lastAt = 0;
  #isWriting = false;
  #timer: Timer | undefined;

  constructor(options: CallProgressOptions) {
    this.#options = options;
    this.#progress = options.before?.progress ?? 0;
  }

  /** The wait for the turn of the message begins. */
  async begin(sent: SentMessage): Promise<void> {
    const { channel, clock, progressToken } = this.#options;
    this.#sent = sent;
    const eventId = this.#eventId;
    if (eventId !== undefined) await channel.mark(eventId);
    this.#lastAt = clock.monotonic();
    if (progressToken !== undefined) this.#arm(SILENCE_MS);
  }

  /** Counts an event of the turn, and sends it as progress unless it was sent `before`. */
  async take({ type }: SessionEvent): Promise<void> {
    this.#events++;
    if (this.#events > (this.#options.before?.told ?? 0)) await this.#tell(type);
  }

  end(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  get #eventId(): string | undefined {
    const { requestId, progressToken, before } = this.#options;
    if (!this.#sent) return undefined;
    const { sessionId, event } = this.#sent;
    const told = Math.max(this.#events, before?.told ?? 0);
    const progress = this.#progress;
    return toEventId({
      sessionId,
      messageId: event.id,
      requestId,
      progressToken,
      told,
      progress,
    });
  }

  async #tell(message: string): Promise<void> {
    const { progressToken, channel, clock } = this.#options;
    if (progressToken === undefined) return;
    this.#lastAt = clock.monotonic();
    const params = { progressToken, progress: ++this.#progress, message };
    this.#isWriting = true;
    try {
      await channel.notify(toNotification('notifications/progress', params), this.#eventId);
    } finally {
      this.#isWriting = false;
    }
  }

  #arm(ms: number): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      const silent = this.#options.clock.monotonic() - this.#lastAt;
      const isDue = silent >= SILENCE_MS;
      this.#arm(isDue ? SILENCE_MS : SILENCE_MS - silent);
      // A client that takes nothing learns nothing by more of it.
      if (isDue && !this.#isWriting) void this.#tell('the turn goes on');
    }, ms);
  }
}
