import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/time/clock.ts';
import { onceClosed } from '../../surfaces/http-exchange.ts';

/** Answer that stays open for as long as its session does. */
export interface OpenStream {
  readonly response: ServerResponse;
  /** Secret of the session. */
  readonly secret: string;
  /** Ticket of its key. */
  readonly word: string;
}

export interface OpenStreamsDeps {
  readonly clock: Clock;
  /** True when the session or its key is over, or when that cannot be determined. Never rejects. */
  isOver(stream: OpenStream): Promise<boolean>;
}

/** Answers of the console that are open are looked at so often, in milliseconds. */
const LOOK_MS = 500;

/** Cuts the open answers of sessions that are over, within a second; there is no timer without any. */
export class OpenStreams {
  readonly #open = new Set<OpenStream>();
  readonly #deps: OpenStreamsDeps;
  #isWaiting = false;

  constructor(deps: OpenStreamsDeps) {
    this.#deps = deps;
  }

  add(stream: OpenStream): void {
    this.#open.add(stream);
    onceClosed(stream.response, () => this.#open.delete(stream));
    this.#wait();
  }

  #wait(): void {
    if (this.#isWaiting || this.#open.size === 0) return;
    this.#isWaiting = true;
    this.#deps.clock.setTimeout(() => void this.#look(), LOOK_MS);
  }

  async #look(): Promise<void> {
    const bySession = new Map<string, OpenStream[]>();
    for (const stream of this.#open) {
      const streams = bySession.get(stream.secret) ?? [];
      bySession.set(stream.secret, [...streams, stream]);
    }
    await Promise.all([...bySession.values()].map((streams) => this.#endIfOver(streams)));
    this.#isWaiting = false;
    this.#wait();
  }

  /** Ends all streams of one session. */
  async #endIfOver(streams: readonly OpenStream[]): Promise<void> {
    const [first] = streams;
    if (!first || !(await this.#deps.isOver(first))) return;
    for (const { response } of streams) response.destroy();
  }
}
