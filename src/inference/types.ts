import type { IncomingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import type { GatewayError } from '../core/errors.ts';
import type { ModelType } from '../core/model-type.ts';
import type { Usage } from '../core/usage.ts';
import type { ContentRecorder } from './content-recorder.ts';
import type {
  Answer,
  Question,
  RequestAddress,
  RequestPeek,
  StreamReader,
  WireProtocol,
} from '../protocols/protocol.ts';
import type { RequestSource } from '../protocols/scan-request.ts';
import type { Candidate, SkippedRoute } from '../routing/plan.ts';
import type { ClientCredential } from '../providers/lend-credential.ts';
import type { Catalog, Model } from '../routing/catalog.ts';
import type { FaultKind } from '../routing/health.ts';
import type { LedgerEntry, RequestOutcome } from '../usage/ledger/ledger.ts';
import type { RequestOrigin } from '../usage/origin.ts';
import type { Principal } from '../usage/principal.ts';
import type { PendingClaim } from '../usage/rates/pending-claim.ts';
import type { RequestMedia } from './request-media.ts';

/** The client's side of one call. */
export interface ClientConnection {
  /** True once the client went away before the answer was complete. */
  readonly gone: boolean;
  /** Calls `listener` at most once, when the client goes away; returns the function that forgets it. */
  onGone(listener: () => void): () => void;
}

/** One authenticated request of a client. */
export interface InferenceRequest {
  id: string;
  /** Milliseconds since epoch, and Clock.monotonic(), at arrival. */
  at: number;
  startedAt: number;
  /** Name in records and reports: `chat`, `responses` … */
  surface: string;
  /** Protocol of the client. */
  protocol: WireProtocol;
  principal: Principal;
  /** Claims on rates, whose refusal comes before every other answer. Default: none. */
  claims?: readonly PendingClaim[];
  catalog: Catalog;
  /** Bytes or their scan; empty once they are no longer needed. */
  body: RequestSource;
  /** The client's own; which of them are forwarded is the provider's business. */
  headers: IncomingHttpHeaders;
  /** Circumstances that the headers and the body do not show. Default: none. */
  origin?: RequestOrigin | undefined;
  /** Reads the client's own credential at a provider of this name. Absent: no client makes the call. */
  clientCredential?: ((provider: string) => Promise<ClientCredential>) | undefined;
  /** Members that the path and the headers name. */
  address: RequestAddress;
  client: ClientConnection;
  /** False for calls that may act upstream more than once if repeated (images, videos). */
  repeatable: boolean;
  /** Runs when the body is no longer needed, maybe long before the call is over. Default: never. */
  onBodySpent?: (() => void) | undefined;
  /** Nothing is charged. Default false. */
  free?: boolean | undefined;
  /** Default: nothing outlives the call. */
  tracker?: TaskTracker | undefined;
  /** The only type of model that is taken; any other is refused with `invalid_request`. */
  modelType?: ModelType | undefined;
  /** Waited for before anything may be sent to a provider. */
  beforeSend?: (() => Promise<void>) | undefined;
  /**
   * Error for the client in place of the pipeline's, given the HTTP statuses of the candidates that
   * were tried, null where none arrived. Default: the error itself.
   */
  toClientError?: (error: GatewayError, statuses: readonly (number | null)[]) => GatewayError;
}

/** One call on its way through the pipeline. */
export interface Call {
  readonly request: InferenceRequest;
  readonly peek: RequestPeek;
  /** Bytes of the client's request, also when they are gone. */
  readonly inputBytes: number;
  /** Absent: the request names none. */
  readonly media?: RequestMedia | undefined;
  readonly model: Model;
  readonly origin?: RequestOrigin | undefined;
  readonly entry: LedgerEntry;
  /** Highest possible cost, in nano-dollars. */
  readonly bound: number;
  /** Absent unless content is kept. */
  readonly content: ContentRecorder | undefined;
  /** Content of the final record; filled in as the call goes. */
  readonly record: CallRecord;
}

export interface CallRecord extends Pick<RequestOutcome, 'attempts' | 'losses'> {
  /** Clock.monotonic() when the first upstream request was sent. */
  sentAt: number | undefined;
  firstContentAt: number | undefined;
  answeredBy: Candidate | undefined;
  /** Nano-dollars that were charged; undefined before the end, and where the price is unknown. */
  cost: number | undefined;
  skipped: readonly SkippedRoute[];
}

export type ResponseHeaders = Record<string, string>;

/** Something that writes itself to the client's response, as srvx accepts it for a body, or to a reader within. */
export interface PipeableBody {
  pipe(response: Writable): void;
  destroy(): void;
}

/** Answer for the client. */
export type CallResult =
  | {
      readonly type: 'body';
      readonly status: number;
      readonly headers: ResponseHeaders;
      readonly body: Buffer;
    }
  | {
      readonly type: 'stream';
      readonly status: number;
      readonly headers: ResponseHeaders;
      readonly body: PipeableBody;
    };

/** Failure of one candidate, before anything reached the client. */
export interface AttemptFailure {
  readonly type: 'failed';
  /** `retry-here` once, `next-candidate`, or `fatal`: the client's own fault, answered at once. */
  readonly action: 'retry-here' | 'next-candidate' | 'fatal';
  /** Name in the record: `status_503`, `timeout_first_content`, `connect` … */
  readonly reason: string;
  readonly upstreamStatus: number | null;
  /** Error for the client if no candidate is left. */
  readonly error: GatewayError;
  /** Undefined: says nothing about the candidate's health. */
  readonly fault: FaultKind | undefined;
  readonly retryAfterMs: number | undefined;
  /** Detail for the record: `ECONNREFUSED` … */
  readonly cause?: string | undefined;
  /** Usage of a 200 that was discarded, where its provider reported any. */
  readonly usage?: Usage | undefined;
}

/** Consumption of a call, as far as it is known when the call is over. */
export interface Consumption {
  usage: Usage | undefined;
  /** Characters that were produced for the client; the basis of an estimate. */
  outputChars: number;
  /** False for a stream without its proper end. Default true. */
  ended?: boolean;
}

/** Answer for the client in place of the provider's. */
export interface TrackedAnswer {
  readonly body: Buffer;
  /** Added to the usual ones. */
  readonly headers: ResponseHeaders;
  /** Consumption of the call; undefined where nothing is due, or not yet. */
  readonly consumption: Consumption | undefined;
}

/**
 * Looks after work that stays with a provider when its call is over: that can be asked for later, be continued,
 * or continue by itself. A rejection is sent to the client, and the call is given up.
 */
export interface TaskTracker {
  /** False for a call that leaves no such work and asks about none. Default: it may. */
  isFor?(peek: RequestPeek): boolean;
  /**
   * Id of the account that made what a request of the caller continues; throws when it is not known. Default:
   * that of the affinity.
   */
  ownerOf?(principal: Principal, pins: readonly string[]): Promise<string>;
  /**
   * Logical model that made what the caller asks about. Rejects with `not_found`, or with `conflict` while that
   * must not be done. Default: there is nothing to ask about.
   */
  modelOf?(principal: Principal, question: Question): Promise<string>;
  /** Takes a whole answer. Resolves when all that has to outlive the call is durable. */
  onAnswer(call: Call, answer: Answer): Promise<TrackedAnswer>;
  /** Takes a stream of which the client has seen nothing yet. Resolves like `onAnswer`. */
  onStream(call: Call, reader: StreamReader): Promise<void>;
  /** Takes the end of a stream, however it ended. Resolves to the call's consumption; never rejects. */
  onStreamEnd(call: Call, reader: StreamReader): Promise<Consumption | undefined>;
}
