import type { RawJson } from '../../core/json/raw.ts';
import type { Protocol } from '../registry.ts';
import type { Usage } from '../../core/usage.ts';

/**
 * The one form in which requests and answers cross from one protocol to another (design: inference,
 * Canonical form). Members without such a form are carried as {@link OpaquePart} or named in
 * `unmapped`; nothing is left out silently.
 */
export interface CanonicalRequest {
  /** Messages in the order of the conversation; system texts are where the client put them. */
  turns: readonly Turn[];
  tools: readonly Tool[];
  toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string };
  /** Names of the tools that the choice is among; default all. */
  allowedTools?: readonly string[];
  /** False: at most one tool call at a time. */
  parallelToolCalls?: boolean;
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  stop?: readonly string[];
  seed?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  reasoning?: ReasoningRequest;
  output?: { type: 'json' } | OutputSchema;
  verbosity?: string;
  /** Number of alternatives wanted for each token. */
  logprobs?: number;
  /** The end user, as the client names it. */
  user?: string;
  metadata?: Readonly<Record<string, string>>;
  serviceTier?: string;
  stream: boolean;
  /** The client's own names of fields that have no canonical form: losses on every route. */
  unmapped: readonly string[];
}

export interface ReasoningRequest {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`. */
  effort?: string;
  budgetTokens?: number;
  /** False: no reasoning is wanted. */
  enabled?: boolean;
  /** Texts of the reasoning are wanted in the answer. */
  show?: boolean;
}

export interface OutputSchema {
  type: 'schema';
  name?: string;
  description?: string;
  schema: unknown;
  strict?: boolean;
}

export interface Turn {
  /** `tool` holds tool results and nothing else. */
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly name?: string;
  readonly parts: readonly Part[];
}

export type Part =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | ToolCallPart
  | ToolResultPart
  | ReasoningPart
  | RefusalPart
  | OpaquePart;

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly citations?: readonly Citation[];
  readonly logprobs?: readonly TokenLogprob[];
  /** A prompt cache ends here. */
  readonly cache?: CacheMark;
}

export interface CacheMark {
  readonly ttl: '5m' | '1h';
}

/** A source on the web. Offsets count characters (UTF-16) of the text. */
export interface Citation {
  readonly url: string;
  readonly title?: string;
  readonly start?: number;
  readonly end?: number;
  readonly quote?: string;
}

export interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes?: readonly number[] | null;
  readonly top: readonly Omit<TokenLogprob, 'top'>[];
}

/** Bytes in base64, or an address that the provider fetches. */
export type MediaSource =
  | { readonly type: 'data'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string; readonly mediaType?: string };

export interface ImagePart {
  readonly type: 'image';
  readonly source: MediaSource;
  readonly detail?: string;
  readonly cache?: CacheMark;
}

export interface DocumentPart {
  readonly type: 'document';
  readonly source: MediaSource | { readonly type: 'text'; readonly text: string };
  readonly name?: string;
  readonly cache?: CacheMark;
}

export interface AudioPart {
  readonly type: 'audio';
  readonly mediaType: string;
  readonly data: string;
}

export interface ToolCallPart {
  readonly type: 'tool_call';
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it; may be cut off in answers that ended early. */
  readonly arguments: string;
  /** Call of a custom tool: `arguments` are free text. */
  readonly custom?: true;
}

export interface ToolResultPart {
  readonly type: 'tool_result';
  readonly callId: string;
  /** The tool's name where the protocol has it. */
  readonly name?: string;
  readonly content: readonly (TextPart | ImagePart | DocumentPart | OpaquePart)[];
  readonly isError: boolean;
  readonly cache?: CacheMark;
}

export interface ReasoningPart {
  readonly type: 'reasoning';
  /** Text that may be shown; empty for reasoning that is only there to be sent back. */
  readonly text: string;
  readonly signature?: Signature;
  /** The signature belongs to the next part (generate-content puts it on that part itself). */
  readonly ofNext?: boolean;
}

/** Proof of a reasoning to the provider that made it; must come back to it byte for byte. */
export interface Signature {
  readonly origin: Protocol;
  readonly value: string;
  /** A tag of the one account, or vendor, that can read it; absent where all of the protocol can. */
  readonly reader?: string;
}

export interface RefusalPart {
  readonly type: 'refusal';
  readonly text: string;
}

/** Something that only its own protocol understands, as parsed there. */
export interface OpaquePart {
  readonly type: 'opaque';
  readonly origin: Protocol;
  readonly value: unknown;
  /** Path at which the client put it: the name of its loss. */
  readonly path?: string;
}

export type Tool = FunctionTool | OpaquePart;

export interface FunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly parameters?: unknown;
  readonly strict?: boolean;
  /** A prompt cache ends after it. */
  readonly cache?: CacheMark;
  /** Custom tool: it takes free text, perhaps of a grammar, and no parameters. */
  readonly custom?: { readonly grammar?: Grammar };
}

export interface Grammar {
  /** Language of the definition, such as `lark`. */
  readonly syntax: string;
  readonly definition: string;
}

export type StopKind =
  | 'end'
  | 'length'
  | 'tool_calls'
  | 'stop_sequence'
  | 'refusal'
  | 'pause'
  | 'context_exceeded'
  | 'malformed_call'
  | 'other';

export interface Stop {
  readonly kind: StopKind;
  /** The provider's own word. */
  readonly raw?: string;
  /** The stop sequence that was met. */
  readonly sequence?: string;
}

export interface CanonicalAnswer {
  readonly id: string | undefined;
  /** Seconds since epoch. */
  readonly created?: number;
  /** Parts of the assistant's message. */
  readonly parts: readonly Part[];
  readonly stop: Stop;
  readonly usage: Usage | undefined;
}

/** JSON to be sent: an object in which a {@link RawJson} is text that is written as it is. */
export type JsonToSend = Readonly<Record<string, unknown>> | RawJson;
