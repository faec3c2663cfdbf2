import type { Clock } from '../core/time/clock.ts';
import type { Answer, StreamReader, Wire } from '../protocols/protocol.ts';
import type { HealthReport } from '../routing/health.ts';
import type { Candidate } from '../routing/plan.ts';
import type { UpstreamHeaders } from '../upstream/transport.ts';
import type { ActiveExchanges } from './active-exchanges.ts';
import type { Relay } from './relay.ts';
import type { AttemptFailure, Call } from './types.ts';

/** End of a committed stream; `failure` is undefined after a clean end. */
export interface StreamEnd {
  failure: AttemptFailure | undefined;
  clientGone: boolean;
  /** Sends the client the last bytes, which wait for the settlement of the call. */
  finish(): void;
}

export type AttemptResult =
  | AttemptFailure
  | { readonly type: 'answer'; readonly answer: Answer; readonly headers: UpstreamHeaders }
  | {
      readonly type: 'stream';
      readonly headers: UpstreamHeaders;
      readonly reader: StreamReader;
      readonly relay: Relay;
      /** Resolves once, when nothing more will be written but by its `finish`. */
      readonly ended: Promise<StreamEnd>;
      /** Gives the stream up without an error to the client. */
      abort(): void;
    };

export interface ExchangeOptions {
  clock: Clock;
  call: Call;
  candidate: Candidate;
  /** Wire to the candidate. */
  wire: Wire;
  /** Begins the report on the candidate, if there is one, when its request is sent and no longer waits. */
  onBegun(): HealthReport | undefined;
  maxAnswerBytes: number;
  /** Most values of an answer that is parsed whole. */
  maxAnswerValues: number;
  active: ActiveExchanges;
  /** The request is on its way as a whole: this candidate no longer needs its body. */
  onSent(): void;
  /** A bug that no answer can report any more. */
  onBug(thrown: unknown): void;
  resolve(result: AttemptResult): void;
}
