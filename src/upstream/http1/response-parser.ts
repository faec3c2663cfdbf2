import { Buffer } from 'node:buffer';
import { UpstreamError } from '../transport.ts';
import { ChunkedDecoder } from './chunked-decoder.ts';
import { checkOpening, findHeadEnd } from './find-head-end.ts';
import { parseResponseHead } from './response-head.ts';
import type { ResponseHead } from './response-head.ts';
import { protocolError } from './to-upstream-error.ts';

/** Most bytes of all heads of an answer, the informational ones before it included. */
const MAX_HEAD_BYTES = 64 * 1024;
const SWITCHING_PROTOCOLS = 101;
const CR = 0x0d;

/**
 * Reads one answer (RFC 9112) as it arrives. A call of `push` sets its findings and calls no callback, so that
 * the bytes given to it may be overwritten once it returned.
 */
export class ResponseParser {
  /** Head that the last `push` found; absent where it came before. */
  head: ResponseHead | undefined;
  /** Copy of the body bytes that the last `push` found. */
  data: Buffer | undefined;
  /** Nothing more can be read. `head` and `data` that came before the fault are set. */
  error: UpstreamError | undefined;
  complete = false;
  /** More bytes came than belong to the answer. */
  overrun = false;

  readonly #method: string;
  #response: ResponseHead | undefined;
  #chunks: ChunkedDecoder | undefined;
  /** The beginning of a head whose end has not come, and how far it was searched. */
  #partial: Buffer | undefined;
  #searched = 0;
  #headBytes = 0;
  /** Bytes left of a body with a length. */
  #bytesLeft = 0;

  constructor(method: string) {
    this.#method = method;
  }

  /** May change `bytes` from 0 to `length`. */
  push(bytes: Buffer, length: number): void {
    this.head = undefined;
    this.data = undefined;
    try {
      if (this.#response) this.#takeBody(bytes, 0, length);
      else this.#takeHead(bytes, length);
    } catch (error) {
      this.error = error instanceof UpstreamError ? error : protocolError('unreadable');
    }
  }

  /** The server closed the connection: true when that ends the answer properly. */
  finish(): boolean {
    if (this.#response?.bodyLength === 'until-close' && !this.error) this.complete = true;
    return this.complete;
  }

  get response(): ResponseHead | undefined {
    return this.#response;
  }

  #takeHead(given: Buffer, length: number): void {
    const bytes = this.#partial ? Buffer.concat([this.#partial, given.subarray(0, length)]) : given;
    const end = this.#partial ? bytes.length : length;
    let start = 0;
    while (start < end) {
      const after = findHeadEnd(bytes, { start, from: start + this.#searched, end });
      const size = (after < 0 ? end : after) - start;
      if (this.#headBytes + size > MAX_HEAD_BYTES) throw protocolError('head too large');
      if (after < 0) return this.#keepPartial(bytes, start, end);
      this.#searched = 0;
      this.#headBytes += size;
      const head = parseResponseHead(bytes.toString('latin1', start, after - 4), this.#method);
      start = after;
      if (head.status >= 200) return this.#startBody(head, bytes, { from: start, end });
      if (head.status === SWITCHING_PROTOCOLS) throw protocolError('unasked switch of protocols');
    }
    this.#partial = undefined;
  }

  #keepPartial(bytes: Buffer, start: number, end: number): void {
    checkOpening(bytes, start, end);
    this.#partial = Buffer.from(bytes.subarray(start, end));
    // A CR at the end is looked at again, together with the next bytes.
    this.#searched = end - start - (bytes[end - 1] === CR ? 1 : 0);
  }

  #startBody(
    head: ResponseHead,
    bytes: Buffer,
    { from, end }: { from: number; end: number },
  ): void {
    this.head = head;
    this.#response = head;
    this.#partial = undefined;
    if (head.bodyLength === 'chunked') this.#chunks = new ChunkedDecoder();
    else if (head.bodyLength !== 'until-close') this.#bytesLeft = head.bodyLength;
    this.#takeBody(bytes, from, end);
  }

  #takeBody(bytes: Buffer, from: number, end: number): void {
    if (this.#chunks) return this.#takeChunks(this.#chunks, bytes, { from, end });
    if (this.#response?.bodyLength === 'until-close') {
      this.data = copy(bytes, from, end);
      return;
    }
    const length = Math.min(this.#bytesLeft, end - from);
    this.data = copy(bytes, from, from + length);
    this.#bytesLeft -= length;
    this.complete = this.#bytesLeft === 0;
    this.overrun = from + length < end;
  }

  #takeChunks(
    chunks: ChunkedDecoder,
    bytes: Buffer,
    { from, end }: { from: number; end: number },
  ): void {
    try {
      this.overrun = chunks.decode(bytes, from, end) < end;
    } finally {
      this.data = copy(bytes, chunks.payloadStart, chunks.payloadStart + chunks.payloadLength);
    }
    this.complete = chunks.done;
  }
}

function copy(bytes: Buffer, from: number, to: number): Buffer | undefined {
  if (from === to) return undefined;
  const copied = Buffer.allocUnsafe(to - from);
  bytes.copy(copied, 0, from, to);
  return copied;
}
