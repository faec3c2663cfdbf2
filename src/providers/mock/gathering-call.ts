import type { Buffer } from 'node:buffer';
import { gatherBody } from '../../core/memory/spooled-body.ts';
import type { SpooledBody } from '../../core/memory/spooled-body.ts';
import { UpstreamError } from '../../upstream/transport.ts';
import type { UpstreamCall, UpstreamErrorKind, UpstreamSink } from '../../upstream/transport.ts';
import { MAX_MOCK_BODY } from './mock-request.ts';

export interface GatheringCallOptions {
  sink: UpstreamSink;
  /** Begins the answer once the body is there. */
  play(body: Buffer): UpstreamCall;
  /** The body is gathered, or never will be. */
  onClose(): void;
}

/** A call whose body is still read when the caller gets it. */
export class GatheringCall implements UpstreamCall {
  readonly #options: GatheringCallOptions;
  #playing: UpstreamCall | undefined;
  #paused = false;
  #failed = false;

  constructor(body: SpooledBody, options: GatheringCallOptions) {
    this.#options = options;
    gatherBody(body, MAX_MOCK_BODY)
      .then((bytes) => this.#start(bytes))
      .catch((error: unknown) => this.#fail('reset', error));
  }

  abort(): void {
    if (this.#playing) this.#playing.abort();
    else this.#fail('aborted');
  }

  pause(): void {
    this.#paused = true;
    this.#playing?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#playing?.resume();
  }

  #start(bytes: Buffer | undefined): void {
    if (this.#failed) return;
    if (!bytes) return this.#fail('reset');
    this.#options.onClose();
    this.#playing = this.#options.play(bytes);
    if (this.#paused) this.#playing.pause();
  }

  #fail(kind: UpstreamErrorKind, cause?: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#options.onClose();
    const error = new UpstreamError(kind, 'the mock did not get the body', { cause });
    queueMicrotask(() => this.#options.sink.onError(error));
  }
}
