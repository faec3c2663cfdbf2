import type { Buffer } from 'node:buffer';
import type { SpooledBody } from '../core/memory/spooled-body.ts';
import type { Proxy } from './proxy/proxy.ts';

/** Response headers as received, names in lower case. */
export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface UpstreamRequest {
  /** Absolute URL. */
  url: URL;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
  /** Flat name, value list; names in lower case. Host and content-length are the transport's. */
  headers: string[];
  /** A spooled body is read as fast as the connection takes it, again for each sending. */
  body: Buffer | SpooledBody | undefined;
  /**
   * True: may be sent once more where a kept connection breaks as the request goes out. Default: `method`
   * is safe (RFC 9110, 9.2.1).
   */
  repeatable?: boolean | undefined;
  /** True: the answer's body comes as it was sent, its encoding named in the head. Default false. */
  raw?: boolean;
}

/**
 * Receives the events of one exchange. Calls come in this order: `onHead` once, `onData` any number
 * of times, then exactly one of `onEnd` and `onError`; `onError` may also come first. `onSent`
 * comes once at any time before the end, or not at all. Nothing is called after `abort()` but for
 * one final `onError` with kind `aborted`, or `waiting` where nothing was sent yet. Bodies in a
 * coding that the request offered arrive decoded (gzip, deflate, br), and `content-encoding` and
 * `content-length` are then removed from the head; any other coding is an error, unless the request
 * asks for bodies raw. Nothing is called before `send` returned; `abort()` calls `onError` before
 * it returns. After `pause()` bytes that were read already may still come: 64 KiB at most, and the
 * end if that is there.
 */
export interface UpstreamSink {
  /** A request that had to wait for a connection is sent now; comes before all others. */
  onPlace?(): void;
  /** All of the request was sent, and will not be sent again: its body is not read any more. */
  onSent?(): void;
  onHead(status: number, headers: UpstreamHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: UpstreamError): void;
}

/** Handle of an exchange in flight; all three are idempotent and safe after its end. */
export interface UpstreamCall {
  /** True as long as the request waits for a connection, or when it was given up before it had one. */
  readonly isWaiting?: boolean;
  /** Closes the socket at once. */
  abort(): void;
  /** Stops reading from the socket until `resume`. */
  pause(): void;
  resume(): void;
}

/** Trust and expectations of TLS to a destination. */
export interface TlsSettings {
  /** Authorities (PEM) that are trusted instead of those that Node trusts. */
  readonly ca?: string | undefined;
  /** Certificate (PEM), followed by its chain, for servers that ask for one, with its private key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Name that the certificate must bear, sent as SNI. Default: that of the address. */
  readonly serverName?: string | undefined;
}

/** Rules for making connections to a destination. */
export interface ReachSettings extends TlsSettings {
  /** Proxy that opens the tunnel. Default: none. */
  readonly proxy?: Proxy | undefined;
}

/** Sends one request. Timeouts are the caller's business (it aborts). */
export interface Transport {
  send(request: UpstreamRequest, sink: UpstreamSink): UpstreamCall;
  /** Waits for nothing: destroys idle and busy sockets. */
  close(): Promise<void>;
}

export type UpstreamErrorKind =
  /** All connections to the destination are in use, which says nothing about it: nothing was sent. */
  | 'waiting'
  /** The connection could not be made (refused, unresolved, TLS): nothing was sent. */
  | 'connect'
  /** The connection broke after something was sent: the provider may have acted. */
  | 'reset'
  /** The answer was not HTTP or its encoding was corrupt. */
  | 'protocol'
  /** The answer has a content coding that the request did not offer; nothing of its body is read. */
  | 'encoding'
  /** `abort()` was called. */
  | 'aborted';

/** The head of an answer whose body is not read. */
export interface RefusedAnswer {
  readonly status: number;
  readonly headers: UpstreamHeaders;
}

interface UpstreamErrorOptions {
  cause?: unknown;
  detail?: string | undefined;
  answer?: RefusedAnswer;
}

export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly kind: UpstreamErrorKind;
  /** Answer that was refused, for kind `encoding`. */
  readonly answer: RefusedAnswer | undefined;
  /** Code of the cause, with the fault of a certificate; only for operators. */
  readonly detail: string | undefined;

  constructor(kind: UpstreamErrorKind, message: string, options: UpstreamErrorOptions = {}) {
    super(message, options);
    this.kind = kind;
    this.answer = options.answer;
    this.detail = options.detail;
  }
}
