import type { Buffer } from 'node:buffer';
import { toGatewayError } from '../../core/errors.ts';
import type { Protocol } from '../../protocols/registry.ts';
import { runInference } from '../../inference/run-inference.ts';
import type { InferenceDeps } from '../../inference/run-inference.ts';
import type { TaskTracker } from '../../inference/types.ts';
import type { Catalog } from '../../routing/catalog.ts';
import type { Ledger, RequestOutcome } from '../../usage/ledger/ledger.ts';
import { ObservedEntry } from '../../usage/ledger/observed-entry.ts';
import type { RequestOrigin } from '../../usage/origin.ts';
import type { Principal } from '../../usage/principal.ts';
import { toFamilyError } from '../../surfaces/family-error.ts';
import type { ModelCall } from './run-call.ts';
import type { RunRecord } from './run-record.ts';
import { signalClient } from '../../surfaces/signal-client.ts';

/** Usage and cost with which a call is settled. */
export type CallCharge = Pick<RequestOutcome, 'usage' | 'cost' | 'unpriced'>;

/** A call that came to an end of its own. */
export interface CallDone {
  /** JSON. */
  readonly output: Buffer;
  readonly error: RunRecord['error'];
}

export interface ModelQuestion {
  /** Id of the record. */
  readonly id: string;
  readonly call: ModelCall;
  readonly principal: Principal;
  readonly origin?: RequestOrigin | undefined;
  readonly catalog: Catalog;
  readonly signal: AbortSignal;
  /** Receives what the call came to: one that fails may cost something, too. */
  onSettled(charge: CallCharge): void;
}

export interface ModelDeps {
  readonly inference: InferenceDeps;
  readonly trackers: ReadonlyMap<Protocol, TaskTracker>;
}

/**
 * Makes the call the way of every client's: routing with failover, limits, the ledger. It is recorded
 * under the surface `run`.
 *
 * @throws GatewayError what the endpoint would have answered
 */
export async function callModel(
  { id, call, principal, origin, catalog, signal, onSettled }: ModelQuestion,
  { inference, trackers }: ModelDeps,
): Promise<CallDone> {
  const { surface, body, address } = call;
  const { clock } = inference;
  const ledger = observed(inference.ledger, onSettled);
  try {
    const result = await runInference(
      {
        id,
        at: clock.now(),
        startedAt: clock.monotonic(),
        surface: 'run',
        protocol: surface.protocol,
        principal,
        catalog,
        body,
        headers: {},
        origin,
        address,
        client: signalClient(signal),
        repeatable: surface.repeatable,
        modelType: surface.modelType,
        tracker: trackers.get(surface.protocol.id),
        toClientError: (error, statuses) => toFamilyError(surface.family, error, statuses),
      },
      { ...inference, ledger },
    );
    if (result.type === 'stream') throw new Error('a run has no stream');
    return { output: result.body, error: null };
  } catch (thrown) {
    throw toFamilyError(surface.family, toGatewayError(thrown));
  }
}

/** A ledger that reports the settlement of the one call that begins. */
function observed(ledger: Ledger, tell: (outcome: RequestOutcome) => void): Ledger {
  return {
    begin: (start) => new ObservedEntry(ledger.begin(start), tell),
    checkFunds: (principal) => ledger.checkFunds(principal),
    drain: () => ledger.drain(),
  };
}
