import type { Buffer } from 'node:buffer';
import type { Form } from '../core/form.ts';
import type { JsonDocument } from '../core/json/json-document.ts';
import type { JsonMember } from '../core/json/json-member.ts';
import type { Quirks } from '../core/json/quirks.ts';
import type { SpooledBody } from '../core/memory/spooled-body.ts';
import type { AskedService, Usage } from '../core/usage.ts';
import type { AnswerSource } from './answer-document.ts';
import type { CallForms } from './canonical/call-forms.ts';
import type { Capabilities } from './capabilities/capabilities.ts';
import type { ToolsRequest } from './capabilities/tools-protocol.ts';
import type { ReasoningReader } from './define-protocol.ts';
import type { Protocol } from './registry.ts';
import type { MediaWriter } from './media/write-media.ts';
import type { RequestSource } from './scan-request.ts';

/** Request about something that a provider keeps, in place of a call of a model. */
export interface Question {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Segments below the path of the protocol, not encoded; the first is the provider's id of the thing. */
  readonly below: readonly [id: string, ...rest: string[]];
  /** Query for the provider, without `?`. */
  readonly query: string;
  /** Sequence number of the last event of a stream that the client has already. Default: it has none. */
  readonly after?: number | undefined;
}

/** Parts of a request's address and headers that its protocol reads; most read only the body. */
export interface RequestAddress {
  /** The logical model, where the path names it. */
  model?: string;
  /** Operation that the path asks of the model: a method of generate-content. */
  operation?: string;
  /** Query of the request, without `?`. */
  query?: string;
  question?: Question;
  /** True for a stream, where the query asks for it. */
  stream?: boolean;
  contentType?: string | undefined;
  /** The body, where it is a form: the bytes are then empty. */
  form?: Form | undefined;
}

/** Facts that the gateway needs to know of a request. */
export interface RequestPeek {
  /** The logical name that the client asked for. */
  readonly model: string;
  readonly stream: boolean;
  /** The client's bytes; of a form its text fields as JSON. */
  readonly body: Buffer;
  /** The client's body where it is a form; it is encoded by {@link Wire.encodeForm}. */
  readonly form?: Form | undefined;
  /** Members of {@link body}; for a form none. */
  readonly members: readonly JsonMember[];
  /** The members' values, parsed when asked for; of a form its fields. Released when the call is on its way. */
  readonly json: JsonDocument;
  /** The client asked for usage in the stream, so its chunk is passed on. */
  readonly keepUsage: boolean;
  /** Number of alternative answers that were asked for, at least 1. */
  readonly choices: number;
  /** Upper bound of prompt tokens; `Infinity` where the request refers to content outside it. */
  readonly inputBound: number;
  /** Upper bound of completion tokens over all choices; undefined when the request sets none. */
  readonly outputBound: number | undefined;
  /** Upper bounds of units that are priced by the piece. Default 0. */
  readonly imagesBound?: number;
  readonly secondsBound?: number;
  /** Tools and ways of service with prices of their own. Default: none. */
  readonly asks?: AskedService | undefined;
  /** Operation that the provider is asked for, in protocols with several. */
  readonly operation?: string;
  readonly question?: Question;
  /** True for work that continues at the provider after its answer; it is not asked for twice. */
  readonly background?: boolean;
  /** True: the provider is asked not to keep the answer. Default false. */
  readonly unstored?: boolean;
  /** Part of the request that only providers of its own protocol serve. Default: it may be translated. */
  readonly nativeOnly?: { readonly name: string; readonly param: string };
  /** Default: every call is that of a function. */
  readonly calls?: CallForms | undefined;
  /** Media type of a streamed answer. Default `text/event-stream; charset=utf-8`. */
  readonly streamType?: string;
  /** Media type of {@link body}. Default `application/json`. */
  readonly contentType?: string;
  /**
   * Names of what earlier answers left at the provider that gave them (ids of responses and of their
   * items, digests of encrypted reasoning): the call must go to that account (requirement routing.affinity.responses).
   */
  readonly pins?: readonly string[];
}

export interface EncodeOptions extends ReasoningReader {
  /** The provider's own model name. */
  model: string;
  quirks?: Quirks | undefined;
  /** Ask the provider for usage in the stream. No effect on requests that do not stream. */
  askUsage: boolean;
  /** Limit to ask for where the provider's protocol needs one and the client gave none. */
  defaultMaxTokens: number;
  /** Capabilities that the route states in place of the table. Default: none. */
  capabilities?: Partial<Capabilities> | undefined;
  /** Takes the client's names of fields that this candidate does not get. */
  losses: string[];
}

/** Facts of the call that an answer to the client needs. */
export interface AnswerOptions extends ReasoningReader {
  /** Replaces the provider's model name where the route asks for that; rebuilt answers always carry it. */
  logicalModel?: string | undefined;
  /** Stands in for an id that the provider did not give. */
  id: string;
  /** Seconds since epoch. */
  created: number;
}

/** Work at the provider that can be polled after its call, and may continue till then. */
export interface ProviderWork {
  /** The provider's. */
  readonly id: string;
  /** Status in the provider's own word. */
  readonly status: string;
  /** Last object that the provider sent of it, as parsed. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** A complete answer that is valid in its protocol. */
export interface Answer {
  body: Buffer;
  /** Undefined when the provider gave none. */
  usage: Usage | undefined;
  /** Generated text, arguments and reasoning in bytes of JSON; the basis of an estimate without usage. */
  outputChars: number;
  /** The client's names of losses in the translation from another protocol. */
  losses?: readonly string[];
  /** Ids that later requests may name in {@link RequestPeek.pins}. */
  pins?: readonly string[];
  /** True: the first of the {@link pins} names something that the provider keeps. Default false. */
  stored?: boolean;
  /** Work at the provider, in protocols where it outlives the call. */
  work?: ProviderWork | undefined;
}

/** Error that ends a stream. `message` is the provider's own text: redact it before showing it. */
export interface StreamFailure {
  /** `error`: the provider said so in the stream; `truncated`: it ended without a proper end. */
  kind: 'error' | 'truncated' | 'malformed' | 'too_large';
  message: string;
  code?: string;
  type?: string;
  /** Member of the request that the provider blames. */
  param?: string;
  /** HTTP status that the provider named in the error. */
  status?: number;
}

/** Synchronous; owns framing, classification, stripping and usage sniffing of one upstream stream. */
export interface StreamReader {
  /**
   * Bytes ready for the client, complete frames only; undefined when nothing is ready, as it is before
   * the first content. Bytes before a failure are still returned; after a failure or the end
   * nothing is.
   */
  push(chunk: Buffer): Buffer | undefined;
  /** The upstream closed. Supplies a missing end marker after a finished answer, else sets `failure`. */
  end(): Buffer | undefined;
  /**
   * Something that commits was seen: text, reasoning, a tool call, a refusal, audio or a finish reason
   * (an answer that only finishes is an empty answer).
   */
  readonly contentSeen: boolean;
  /** Reasoning was opened, perhaps without a text: every event is a sign of life from then on. */
  readonly thinking: boolean;
  /** Events so far, those held back or dropped included; before the first content only those with data. */
  readonly events: number;
  /** Bytes that wait for the first content. */
  readonly held: number;
  /** The protocol's clean end was seen or supplied. */
  readonly ended: boolean;
  readonly failure: StreamFailure | undefined;
  /** The last usage seen. */
  readonly usage: Usage | undefined;
  /** {@link Answer.outputChars} so far. */
  readonly outputChars: number;
  /** {@link Answer.losses} so far. */
  readonly losses?: readonly string[];
  /** {@link Answer.pins} so far; known before the first content. */
  readonly pins?: readonly string[];
  /** Like {@link Answer.stored}, so far. */
  readonly stored?: boolean;
  /** Like {@link Answer.work}, so far. */
  readonly work?: ProviderWork | undefined;
  /**
   * {@link StreamCodec.errorFrame} where it depends on the events sent so far (its sequence
   * numbers, the provider's own last event). Default: that of the protocol.
   */
  errorFrame?(error: InBandError): Buffer | undefined;
}

export interface StreamOptions extends AnswerOptions {
  readonly peek: RequestPeek;
  /** Usage of a stream whose provider counts nothing, by its generated text. Default: zeros. */
  readonly estimateUsage?: ((outputChars: number) => Usage) | undefined;
}

export interface InBandError {
  message: string;
  type: string;
  code: string;
  /** The HTTP status that it would have been before the stream began. */
  status: number;
}

/** Additional members of a protocol that streams. */
export interface StreamCodec {
  createStream(options: StreamOptions): StreamReader;
  /** A failure after the stream began, as the last bytes of the stream. */
  errorFrame(error: InBandError, peek: RequestPeek): Buffer;
  /** Bytes that are sent in silence; must mean nothing to clients. Default: a comment of server-sent events. */
  keepAlive?(peek: RequestPeek): Buffer;
}

/** Speaks a call to a provider: in the client's own protocol, or translated into another. */
export interface Wire {
  /** Protocol of the provider. */
  readonly id: Protocol;
  /**
   * The upstream body: the client's bytes but for what the options change.
   *
   * @throws GatewayError `unsupported_feature` when this candidate cannot serve the request
   */
  encode(peek: RequestPeek, options: EncodeOptions): Buffer | SpooledBody;
  /** The same for a long request, with turns for others between its steps. Absent: it has one step. */
  encodeInTurns?(peek: RequestPeek, options: EncodeOptions): Promise<Buffer>;
  /** The same for a request that is a form. Absent: there are none. */
  encodeForm?(form: Form, options: EncodeOptions): SpooledBody;
  /** True: answers are read with the request at hand, so its body stays to the end. Default false. */
  readonly readsRequest?: boolean | undefined;
  /** {@link readAnswer} parses the whole answer, so the number of its values is bounded. Default false. */
  readonly parsesAnswers?: boolean;
  /**
   * Undefined when it is not a valid answer of the provider's protocol to that request. A long answer
   * may be read in slices between which other work runs.
   */
  readAnswer(
    source: AnswerSource,
    peek: RequestPeek,
    options: AnswerOptions,
  ): Answer | undefined | Promise<Answer | undefined>;
  /** Usage that the provider reports in a 200, also in one that is no answer. Absent: never. */
  readUsage?(document: JsonDocument): Usage | undefined;
  /** Absent: never streamed. */
  createStream?(options: StreamOptions): StreamReader;
}

/** A client's way to providers of another protocol. */
export interface Translation {
  readonly wire: Wire;
  /** The client's names of its losses. */
  readonly losses: readonly string[];
}

/** A wire format, pure and without I/O: what the pipeline needs to serve it (design: Layout, 3). */
export interface WireProtocol extends Wire, Partial<StreamCodec> {
  /** Throws `invalid_json` or `invalid_request` with `param`. */
  peek(source: RequestSource, address?: RequestAddress): RequestPeek;
  /**
   * A request's function tools; undefined without any. Absent: its requests go to providers of this
   * protocol whatever they hold.
   */
  toolsRequest?(peek: RequestPeek): ToolsRequest | undefined;
  /**
   * Protocols into which its requests are translated, the most faithful first; `loadProtocols` adds those
   * that it does not name. Default: none.
   */
  readonly translatesTo?: readonly Protocol[];
  /** Ways into them, which `loadProtocols` makes. Default: none. */
  readonly translations?: ReadonlyMap<Protocol, Translation>;
  /** True: translated only for routes that say `mapping: translated`. Default false. */
  readonly translatedWhenMapped?: boolean;
  /** True: its clients may leave the vendor out of a model's name. Default false. */
  readonly bareNames?: boolean;
  /** Puts media into a request in place of a reference. Default: bytes as a data URL. */
  readonly writeMedia?: MediaWriter;
  /** An answer made without any provider, for calls that have one (counting tokens). */
  answerLocally?(peek: RequestPeek): Buffer;
}
