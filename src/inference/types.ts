import type { IncomingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import type { GatewayError } from '../core/errors.ts';
import type { Usage } from '../core/usage.ts';
import type { ContentRecorder } from './content-recorder.ts';
import type { RequestPeek, WireProtocol } from '../protocols/protocol.ts';
import type { Candidate, SkippedRoute } from '../routing/plan.ts';
import type { Model } from '../routing/catalog.ts';
import type { FaultKind } from '../routing/health.ts';
import type { LedgerEntry, RequestOutcome } from '../usage/ledger/ledger.ts';
import type { Principal } from '../usage/principal.ts';
import type { RequestMedia } from './request-media.ts';
import type { WorkKeeper } from './work-keeper.ts';

/** The client's side of one call. */
export interface ClientConnection {
  /** True once the client went away before the answer was complete. */
  readonly gone: boolean;
  /** Calls `listener` at most once, when the client goes away; returns the function that forgets it. */
  onGone(listener: () => void): () => void;
}

/** One call on its way through the pipeline. */
export interface Call {
  readonly id: string;
  /** Milliseconds since epoch, and Clock.monotonic(), at arrival. */
  readonly at: number;
  readonly startedAt: number;
  /** Protocol of the client. */
  readonly protocol: WireProtocol;
  /** Surface as records name it. */
  readonly surface: string;
  readonly principal: Principal;
  /** Id of the caller's organization. */
  readonly organization: string;
  /** The client's own headers; what is forwarded of them is the provider's business. */
  readonly headers: IncomingHttpHeaders;
  readonly peek: RequestPeek;
  /** Bytes of the client's request, also when they are gone. */
  readonly inputBytes: number;
  /** Tells who keeps the request's bytes that they are needed no more. Idempotent. */
  release(): void;
  /** Absent: the request names none. */
  readonly media?: RequestMedia | undefined;
  readonly model: Model;
  readonly client: ClientConnection;
  readonly entry: LedgerEntry;
  /** The most that it can cost, in nano-dollars. */
  readonly bound: number;
  /** Absent: nothing outlives the call. */
  readonly work: WorkKeeper | undefined;
  /** Absent unless content is kept. */
  readonly content: ContentRecorder | undefined;
  /** False for calls that may act upstream more than once if repeated (images, videos, passthrough). */
  readonly repeatable: boolean;
  /** Nothing is charged, whatever the price. */
  readonly free: boolean;
  /** Record of the call; filled in as the call goes. */
  readonly record: CallRecord;
}

export interface CallRecord extends Pick<RequestOutcome, 'attempts' | 'losses'> {
  /** Clock.monotonic() when the first upstream request was sent. */
  sentAt: number | undefined;
  firstContentAt: number | undefined;
  answeredBy: Candidate | undefined;
  skipped: readonly SkippedRoute[];
}

export type ResponseHeaders = Record<string, string>;

/** Something that writes itself to the client's response, as srvx accepts it for a body, or to a reader within. */
export interface PipeableBody {
  pipe(response: Writable): void;
  destroy(): void;
}

/** Result that the client gets. */
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

/** Failure of one candidate before anything reached the client. */
export interface AttemptFailure {
  readonly type: 'failed';
  /** `retry-here` once, `next-candidate`, or `fatal`: the client's own fault, answered at once. */
  readonly action: 'retry-here' | 'next-candidate' | 'fatal';
  /** For the record: `status_503`, `timeout_first_content`, `connect` … */
  readonly reason: string;
  readonly upstreamStatus: number | null;
  /** Error for the client if no candidate is left. */
  readonly error: GatewayError;
  /** Undefined: says nothing about the candidate's health. */
  readonly fault: FaultKind | undefined;
  readonly retryAfterMs: number | undefined;
  /** Usage of a 200 that was discarded, where its provider told any. */
  readonly usage?: Usage | undefined;
}
