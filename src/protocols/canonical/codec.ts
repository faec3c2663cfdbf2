import type { Buffer } from 'node:buffer';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import type { Protocol } from '../registry.ts';
import type { SseFrame } from '../../core/sse/frame.ts';
import type { Usage } from '../../core/usage.ts';
import type { Capabilities } from '../capabilities/capabilities.ts';
import type { OwnNames } from '../capabilities/name-bounds.ts';
import type { CanonicalAnswer, CanonicalRequest, JsonToSend, Part } from './canonical.ts';
import type { AnswerEvent, CanonicalEvent } from './stream.ts';
import type { Feature, FeatureFields } from '../features.ts';
import type { InBandError, RequestPeek } from '../protocol.ts';

/** A provider's answer as it came, and its value with {@link CanonicalCodec.rawMembers}. */
export interface AnswerJson {
  readonly body: Buffer;
  readonly value: unknown;
}

/** A value, and the features of its source that it could not express. */
export interface Encoded {
  readonly value: JsonToSend;
  readonly losses: readonly Feature[];
  /** Paths in the client's request of members that were left out whole. Default none. */
  readonly lost?: readonly string[];
  /** Default: every tool of a request is called by its own name. */
  readonly names?: OwnNames;
}

export interface RequestTarget {
  /** The provider's own model name. */
  readonly model: string;
  /** Limit to ask for where the protocol needs one and the client gave none. */
  readonly defaultMaxTokens: number;
  readonly askUsage: boolean;
  /** Capabilities that the route states in place of the table. Default: none. */
  readonly capabilities?: Partial<Capabilities> | undefined;
}

/** Facts that an answer to the client states about itself. */
export interface AnswerContext {
  /** The logical name that the client asked for. */
  readonly model: string;
  /** Stands in for an id that the provider did not give. */
  readonly id: string;
  /** Seconds since epoch. */
  readonly created: number;
  /** The client asked for usage in its stream. */
  readonly keepUsage: boolean;
  /** Usage of a stream whose provider counts nothing, by its output. Default: zeros. */
  readonly estimateUsage?: ((outputChars: number) => Usage) | undefined;
  /** The client's own request. */
  readonly peek: RequestPeek;
}

/**
 * A protocol's way to and from the canonical form (design: inference, Canonical form). Pure; the
 * identity laws of `test/protocols/codec-laws.ts` hold for every one.
 */
export interface CanonicalCodec {
  readonly id: Protocol;
  readonly features: FeatureFields;
  /** Features that its clients may ask for but its providers are never asked for. Default: none. */
  readonly alsoReads?: FeatureFields;
  /** Kinds of parts that its answers cannot hold. Default: none. */
  readonly unshown?: ReadonlySet<Part['type']>;
  /** True: its answers repeat parts of the client's request. Default false. */
  readonly repeatsRequest?: boolean;
  /**
   * @throws GatewayError `invalid_request` with `param` for an invalid request of the protocol;
   *   `unsupported_feature` with `param` for a member that the contract refuses to translate
   */
  decodeRequest(peek: RequestPeek): Steps<CanonicalRequest>;
  encodeRequest(request: CanonicalRequest, target: RequestTarget): Steps<Encoded>;
  /** Members of its answers whose objects and arrays keep their spelling. Default: none. */
  readonly rawMembers?: readonly string[];
  /** Undefined: not a valid answer of the protocol. */
  decodeAnswer(json: AnswerJson): Steps<CanonicalAnswer | undefined>;
  /** Usage that a provider reports in a 200, also in one that is no answer. */
  readUsage(document: JsonDocument): Usage | undefined;
  encodeAnswer(answer: CanonicalAnswer, context: AnswerContext): Steps<Encoded>;
  /** Reads a provider's stream. */
  createDecoder(): StreamDecoder;
  /** Writes a client's stream. */
  createEncoder(context: AnswerContext): StreamEncoder;
}

/** Synchronous; one object per stream. */
export interface StreamDecoder {
  read(frame: SseFrame): readonly CanonicalEvent[];
  /** The provider closed the connection: `end` if its protocol has no other end, else a failure. */
  close(): readonly CanonicalEvent[];
  /** The provider has opened reasoning of which no part shows. Default: parts show all of it. */
  readonly isThinking?: boolean;
}

/** Synchronous; one object per stream. Sees parts one at a time. */
export interface StreamEncoder {
  /** Bytes for the client, or undefined when the event shows nothing yet. */
  write(event: AnswerEvent): Buffer | undefined;
  /** A failure after the stream began, if it depends on earlier frames. Default: the protocol's. */
  errorFrame?(error: InBandError): Buffer;
  /** Features that could not be expressed so far. */
  readonly losses: ReadonlySet<Feature>;
}
