import type { Buffer } from 'node:buffer';
import type { FairQueue, Waiter } from '../../core/fair-queue.ts';
import { UpstreamError } from '../transport.ts';
import type {
  Transport,
  UpstreamCall,
  UpstreamHeaders,
  UpstreamRequest,
  UpstreamSink,
} from '../transport.ts';

export interface PlacedCallOptions {
  transport: Transport;
  request: UpstreamRequest;
  sink: UpstreamSink;
  queue: FairQueue<PlacedCall>;
  /** Shares the slots with the other holders. */
  holder: string;
}

/** Sends waiting calls, as far as there are slots for them. */
export function sendNext(queue: FairQueue<PlacedCall>): void {
  for (let next = queue.next(); next; next = queue.next()) next.item.onPlace();
}

/** One call that is sent when it has a slot, which it releases at its end. */
export class PlacedCall implements UpstreamCall, UpstreamSink {
  readonly #options: PlacedCallOptions;
  #waiter: Waiter<PlacedCall> | undefined;
  #call: UpstreamCall | undefined;
  #hasPlace = false;
  #isPaused = false;
  #isOver = false;

  constructor(options: PlacedCallOptions) {
    this.#options = options;
    const { queue, holder } = options;
    if (queue.enter(holder)) this.#send();
    else this.#wait();
  }

  get isWaiting(): boolean {
    return !this.#hasPlace;
  }

  /** Its turn has come. */
  onPlace(): void {
    this.#waiter = undefined;
    this.#send();
    this.#options.sink.onPlace?.();
    if (this.#isPaused) this.#call?.pause();
  }

  abort(): void {
    if (this.#call) return this.#call.abort();
    if (this.#waiter) this.#options.queue.abandon(this.#waiter);
    this.#giveUp('given up while it waited for a connection');
  }

  pause(): void {
    this.#isPaused = true;
    this.#call?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#call?.resume();
  }

  onSent(): void {
    this.#options.sink.onSent?.();
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    this.#options.sink.onHead(status, headers);
  }

  onData(chunk: Buffer): void {
    this.#options.sink.onData(chunk);
  }

  /** A sink that throws gets the failure next, and the slot is released then. */
  onEnd(): void {
    this.#options.sink.onEnd();
    this.#release();
  }

  onError(error: UpstreamError): void {
    this.#options.sink.onError(error);
    this.#release();
  }

  #send(): void {
    const { transport, request } = this.#options;
    this.#hasPlace = true;
    this.#call = transport.send(request, this);
  }

  #wait(): void {
    const { queue, holder } = this.#options;
    this.#waiter = queue.wait(holder, this);
    if (!this.#waiter) queueMicrotask(() => this.#giveUp('too many calls wait for a connection'));
  }

  #giveUp(message: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.sink.onError(new UpstreamError('waiting', message));
  }

  #release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.queue.release(this.#options.holder);
    sendNext(this.#options.queue);
  }
}
