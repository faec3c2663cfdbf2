import type { Buffer } from 'node:buffer';
import type { JsonMember } from '../core/json-scan.ts';
import type { Protocol } from '../core/protocol-id.ts';
import type { Quirks } from '../core/quirks.ts';
import type { Usage } from '../core/usage.ts';

/** What the gateway needs to know of a request body. */
export interface RequestPeek {
  /** The logical name that the client asked for. */
  readonly model: string;
  readonly stream: boolean;
  /** The client's bytes. */
  readonly body: Buffer;
  readonly members: readonly JsonMember[];
  readonly value: Readonly<Record<string, unknown>>;
  /** The client asked for usage in the stream, so its chunk is passed on. */
  readonly keepUsage: boolean;
  /** How many alternative answers were asked for, at least 1. */
  readonly choices: number;
  /** Upper bound of prompt tokens. */
  readonly inputBound: number;
  /** Upper bound of completion tokens over all choices; undefined when the request sets none. */
  readonly outputBound: number | undefined;
}

export interface EncodeOptions {
  /** The provider's own model name. */
  model: string;
  quirks?: Quirks | undefined;
  /** Ask the provider for usage in the stream. No effect on requests that do not stream. */
  askUsage: boolean;
}

/** A complete answer that is valid in its protocol. */
export interface Answer {
  body: Buffer;
  /** Undefined when the provider gave none. */
  usage: Usage | undefined;
  /** Generated text, arguments and reasoning in bytes of JSON; the basis of an estimate without usage. */
  outputChars: number;
}

/** Why a stream cannot go on. `message` is the provider's own text: redact it before showing it. */
export interface StreamFailure {
  /** `error`: the provider said so in the stream; `truncated`: it ended without a proper end. */
  kind: 'error' | 'truncated' | 'malformed' | 'too_large';
  message: string;
  code?: string;
  type?: string;
  /** HTTP status that the provider named in the error. */
  status?: number;
}

/** Synchronous; owns framing, classification, stripping and usage sniffing of one upstream stream. */
export interface StreamReader {
  /**
   * Bytes ready for the client, complete frames only; undefined when nothing is ready. Bytes in
   * front of a failure are still returned; after a failure or the end nothing is.
   */
  push(chunk: Buffer): Buffer | undefined;
  /** The upstream closed. Supplies a missing end marker after a finished answer, else sets `failure`. */
  end(): Buffer | undefined;
  /**
   * Something that commits was seen: text, reasoning, a tool call, a refusal, audio or a finish reason
   * (an answer that only finishes is an empty answer).
   */
  readonly contentSeen: boolean;
  /** Frames so far, those held back or dropped included. */
  readonly events: number;
  /** The protocol's clean end was seen or supplied. */
  readonly ended: boolean;
  readonly failure: StreamFailure | undefined;
  /** The last usage seen. */
  readonly usage: Usage | undefined;
  /** Like {@link Answer.outputChars}, so far. */
  readonly outputChars: number;
}

export interface StreamOptions {
  /** Pass the usage chunk on ({@link RequestPeek.keepUsage}). */
  keepUsage: boolean;
  /** How many choices must finish before a missing end marker is forgiven. Default 1. */
  choices?: number | undefined;
  /** Replaces the provider's model name in what is forwarded. */
  logicalModel?: string | undefined;
}

interface InBandError {
  message: string;
  type: string;
  code: string;
}

/** What a protocol that streams has beside the rest. */
export interface StreamCodec {
  createStream(options: StreamOptions): StreamReader;
  /** A failure after the stream began, as bytes of the stream. */
  errorFrame(error: InBandError): Buffer;
}

/** A wire format, pure and without I/O: what the pipeline needs to forward it (design: Layout, 3). */
export interface WireProtocol extends Partial<StreamCodec> {
  readonly id: Protocol;
  /** Throws `invalid_json` or `invalid_request` with `param`. */
  peek(body: Buffer): RequestPeek;
  /** The upstream body: the client's bytes but for what the options change. */
  encode(peek: RequestPeek, options: EncodeOptions): Buffer;
  /** Undefined when the body is not a valid answer of this protocol to that request. */
  readAnswer(body: Buffer, peek: RequestPeek): Answer | undefined;
  /** A valid answer with its `model` value replaced. */
  rewriteModel(body: Buffer, model: string): Buffer;
}
