import type { Estimate, RequestOutcome, RequestStart } from '../../src/usage/ledger/ledger.ts';
import type { Refusal } from '../../src/usage/requests/refusals.ts';
import { ActiveExchanges } from '../../src/inference/active-exchanges.ts';
import type { InferenceDeps } from '../../src/inference/run-inference.ts';
import { createHealth } from '../../src/routing/health.ts';
import type { UpstreamCall, UpstreamRequest, UpstreamSink } from '../../src/upstream/transport.ts';
import { createFakeClock } from './fake-clock.ts';
import type { FakeClock } from './fake-clock.ts';

/** One upstream request as the pipeline made it; the test plays the provider through `sink`. */
export interface SentCall {
  request: UpstreamRequest;
  sink: UpstreamSink;
  aborted: boolean;
  paused: boolean;
}

export interface InferenceBench {
  deps: InferenceDeps;
  clock: FakeClock;
  sent: SentCall[];
  /** The final records, in the order in which they were settled. */
  outcomes: RequestOutcome[];
  starts: RequestStart[];
  refusals: Refusal[];
  /** Each tells what a stream has cost so far. */
  followed: (() => Estimate)[];
}

/** What the pipeline stands on, with a transport and a ledger whose every move is the test's. */
export function inferenceBench(
  entry: { admitted?: Promise<void>; durable?: Promise<void>; settled?: Promise<void> } = {},
): InferenceBench {
  const clock = createFakeClock();
  const sent: SentCall[] = [];
  const outcomes: RequestOutcome[] = [];
  const starts: RequestStart[] = [];
  const refusals: Refusal[] = [];
  const followed: (() => Estimate)[] = [];
  const deps: InferenceDeps = {
    clock,
    health: createHealth({ clock }),
    transportFor: () => ({
      send: (request, sink) => open(sent, { request, sink, aborted: false, paused: false }),
      close: async () => undefined,
    }),
    maxAnswerBytes: 1024 * 1024,
    maxAnswerValues: 2_000_000,
    active: new ActiveExchanges(),
    onBug: (thrown) => {
      throw thrown;
    },
    ledger: {
      begin(start) {
        starts.push(start);
        return {
          admitted: entry.admitted,
          durable: entry.durable ?? Promise.resolve(),
          isDurable: false,
          settled: entry.settled,
          follow: (soFar) => void followed.push(soFar),
          settle: (outcome) => void outcomes.push(outcome),
        };
      },
      checkFunds: () => undefined,
      drain: async () => undefined,
    },
    random: () => 0.5,
    outputBound: 1000,
    defaultMaxTokens: 1000,
    affinity: {
      find: async () => undefined,
      modelOf: async () => undefined,
      keep: async () => undefined,
    },
    keepContent: false,
    allowsUnpriced: false,
    refusals: { note: (refusal) => void refusals.push(refusal) },
  };
  return { deps, clock, sent, outcomes, starts, refusals, followed };
}

function open(sent: SentCall[], call: SentCall): UpstreamCall {
  sent.push(call);
  return {
    abort: () => void (call.aborted = true),
    pause: () => void (call.paused = true),
    resume: () => void (call.paused = false),
  };
}
