import type { Buffer } from 'node:buffer';
import type { SpooledBody } from '../../core/memory/spooled-body.ts';
import { DecodedBody } from '../decoded-body.ts';
import { codingOf, judgeCoding } from '../decoder.ts';
import { UpstreamError } from '../transport.ts';
import type { UpstreamCall, UpstreamSink } from '../transport.ts';
import type { ResponseHead } from './response-head.ts';
import { codingError, toUpstreamError } from './to-upstream-error.ts';

/** Queue in which an exchange waits until there is a connection for it. */
export interface ExchangeQueue {
  abandon(exchange: Exchange): void;
}

/** Connection that carries an exchange until its answer is complete. */
export interface ExchangeConnection {
  /** Closes the connection if anything of the exchange was written to it. */
  abandon(exchange: Exchange): void;
  pause(): void;
  resume(): void;
}

export interface ExchangeOptions {
  sink: UpstreamSink;
  method: string;
  /** See `createRequestHead`. */
  head: string;
  body: Buffer | SpooledBody | undefined;
  /** The request may be sent once more on another connection. */
  repeatable: boolean;
  /** The `accept-encoding` of the request; undefined: the answer is taken in any coding, as it is. */
  offered: string | undefined;
  maxDecodedBytes: number;
}

/** One request and its answer: the caller's handle on one side, the connection's sink on the other. */
export class Exchange implements UpstreamCall {
  readonly options: ExchangeOptions;
  /** State of the exchange: at most one of the two is set, and neither once the answer is complete. */
  queue: ExchangeQueue | undefined;
  connection: ExchangeConnection | undefined;
  #decoded: DecodedBody | undefined;
  /** The head has come: before it, it is not known whether the socket or a decoder is to be paused. */
  #answering = false;
  #paused = false;
  #done = false;

  constructor(options: ExchangeOptions) {
    this.options = options;
  }

  abort(): void {
    if (!this.#done) this.fail(toUpstreamError('aborted'));
  }

  pause(): void {
    this.#paused = true;
    if (this.#decoded) this.#decoded.pause();
    else if (this.#answering) this.connection?.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#decoded) this.#decoded.resume();
    else this.connection?.resume();
  }

  /** The request was written, and is not written again. */
  onSent(): void {
    if (this.#done) return;
    this.options.body = undefined;
    this.options.sink.onSent?.();
  }

  onHead({ status, headers }: ResponseHead): void {
    if (this.#done) return;
    this.#answering = true;
    const { 'content-encoding': coding } = headers;
    const { offered } = this.options;
    const reading = offered === undefined ? 'as-it-is' : judgeCoding(coding, offered);
    if (reading === 'refuse') return this.fail(codingError({ status, headers }));
    if (reading === 'decode') {
      delete headers['content-encoding'];
      delete headers['content-length'];
      this.#decoded = this.#decode(codingOf(coding));
    }
    if (this.#paused) this.pause();
    try {
      this.options.sink.onHead(status, headers);
    } catch (error) {
      this.#failInSink(error);
    }
  }

  onData(chunk: Buffer): void {
    if (this.#done) return;
    if (!this.#decoded) this.#pass(chunk);
    else if (!this.#decoded.write(chunk)) this.connection?.pause();
  }

  onEnd(): void {
    if (this.#done) return;
    if (this.#decoded) this.#decoded.end();
    else this.#end();
  }

  fail(error: UpstreamError): void {
    if (this.#done) return;
    this.#done = true;
    this.#decoded?.destroy();
    this.queue?.abandon(this);
    this.connection?.abandon(this);
    this.options.sink.onError(error);
  }

  #decode(encoding: string): DecodedBody {
    return new DecodedBody({
      encoding,
      maxBytes: this.options.maxDecodedBytes,
      onData: (chunk) => {
        if (!this.#done) this.#pass(chunk);
      },
      onEnd: () => this.#end(),
      onError: (error) => this.fail(error),
      onDrain: () => this.connection?.resume(),
    });
  }

  #pass(chunk: Buffer): void {
    try {
      this.options.sink.onData(chunk);
    } catch (error) {
      this.#failInSink(error);
    }
  }

  #end(): void {
    if (this.#done) return;
    try {
      this.#done = true;
      this.options.sink.onEnd();
    } catch (error) {
      this.#done = false;
      this.#failInSink(error);
    }
  }

  /** A fault of the caller's must not take the exchanges of others down with the process. */
  #failInSink(error: unknown): void {
    this.fail(new UpstreamError('reset', 'the answer could not be handled', { cause: error }));
  }
}
