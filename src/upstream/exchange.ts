import type { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { DecodedBody } from './decoded-body.ts';
import { isDecodable } from './decoder.ts';
import { errorCode, toUpstreamError } from './to-upstream-error.ts';
import { UpstreamError } from './transport.ts';
import type { UpstreamCall, UpstreamHeaders, UpstreamSink } from './transport.ts';

export interface ExchangeOptions {
  sink: UpstreamSink;
  request: Dispatcher.DispatchOptions;
  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  maxDecodedBytes: number;
  /** Called once, when nothing more will come. */
  onDone(): void;
}

/** A kept connection that the server had closed: it is seen before the request is written. */
const STALE_CODES: ReadonlySet<string | undefined> = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
]);

/** One request and its answer: undici's handler on one side, our sink on the other. */
export class Exchange implements Dispatcher.DispatchHandler, UpstreamCall {
  readonly #options: ExchangeOptions;
  #controller: Dispatcher.DispatchController | undefined;
  #body: DecodedBody | undefined;
  /** The head has come: before it, it is not known whether the socket or a decoder is to be paused. */
  #answering = false;
  #done = false;
  #paused = false;
  #retried = false;
  #dispatching = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  start(): void {
    this.#dispatching = true;
    this.#options.dispatch(this.#options.request, this);
    this.#dispatching = false;
  }

  abort(): void {
    if (this.#done) return;
    // A request that waits for a connection cannot be taken back, but its body can.
    if (!this.#controller) this.#options.request.body = null;
    this.#fail(new UpstreamError('aborted', 'the request was aborted'));
  }

  pause(): void {
    this.#paused = true;
    if (this.#body) this.#body.pause();
    else if (this.#answering) this.#controller?.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#body) this.#body.resume();
    else this.#resumeSocket();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown rather than aborted: aborting would destroy a connection that is ready for others.
    if (this.#done) throw new UpstreamError('aborted', 'the request was aborted');
    this.#controller = controller;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (this.#done || status < 200) return;
    this.#answering = true;
    const encoding = headers['content-encoding'];
    if (encoding === undefined || !isDecodable(encoding)) {
      if (this.#paused) controller.pause();
      this.#options.sink.onHead(status, headers);
      return;
    }
    this.#body = this.#decode(encoding);
    if (this.#paused) this.#body.pause();
    this.#options.sink.onHead(status, withoutEncoding(headers));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#done) return;
    if (!this.#body) this.#options.sink.onData(chunk);
    else if (!this.#body.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#done) return;
    if (this.#body) this.#body.end();
    else this.#end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#done) return;
    if (!this.#controller && !this.#retried && STALE_CODES.has(errorCode(error))) {
      this.#retried = true;
      this.start();
      return;
    }
    this.#fail(toUpstreamError(error, this.#controller !== undefined));
  }

  #decode(encoding: string): DecodedBody {
    return new DecodedBody({
      encoding,
      maxBytes: this.#options.maxDecodedBytes,
      onData: (chunk) => {
        if (!this.#done) this.#options.sink.onData(chunk);
      },
      onEnd: () => this.#end(),
      onError: (error) => this.#fail(error),
      onDrain: () => this.#resumeSocket(),
    });
  }

  /** Later: undici's parser must not be resumed from inside one of its callbacks. */
  #resumeSocket(): void {
    queueMicrotask(() => {
      if (!this.#done && (this.#body || !this.#paused)) this.#controller?.resume();
    });
  }

  #end(): void {
    if (this.#done) return;
    this.#done = true;
    this.#options.onDone();
    this.#options.sink.onEnd();
  }

  #fail(error: UpstreamError): void {
    if (this.#done) return;
    this.#done = true;
    this.#body?.destroy();
    this.#controller?.abort(error);
    this.#options.onDone();
    // The caller of `send` has not got its handle yet.
    if (this.#dispatching) queueMicrotask(() => this.#options.sink.onError(error));
    else this.#options.sink.onError(error);
  }
}

function withoutEncoding(headers: IncomingHttpHeaders): UpstreamHeaders {
  const { 'content-encoding': _encoding, 'content-length': _length, ...rest } = headers;
  return rest;
}
