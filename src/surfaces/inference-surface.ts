import type { InferenceDeps } from '../inference/run-inference.ts';
import { runInference } from '../inference/run-inference.ts';
import type { CallResult } from '../inference/types.ts';
import type { WireProtocol } from '../protocols/protocol.ts';
import type { GatewayError } from '../core/errors.ts';
import type { Catalog, ModelType } from '../routing/catalog.ts';
import { readKey } from './carriers.ts';
import type { Carrier } from './carriers.ts';
import type { Envelope } from './envelopes.ts';
import { watchClient } from './http-exchange.ts';
import type { Handler, HttpExchange } from './http-exchange.ts';
import { admit } from './gate.ts';
import type { GateDeps } from './gate.ts';
import { readBody } from './read-body.ts';

/** A public inference family: its wire protocol and how it is spoken to (contract: Endpoints). */
export interface InferenceSurface {
  /** As records and reports name it. */
  readonly name: string;
  readonly path: string;
  readonly protocol: WireProtocol;
  readonly carriers: readonly Carrier[];
  readonly envelope: Envelope;
  /** False where a repeated call may be billed twice. */
  readonly repeatable: boolean;
  /** The only type of model that it takes; any other answers 400. Absent: whatever speaks the protocol. */
  readonly modelType?: ModelType;
  /** Where the family's statuses differ from the common ones. */
  readonly toClientError?: (error: GatewayError) => GatewayError;
}

export interface SurfaceDeps extends GateDeps {
  inference: InferenceDeps;
  /** The catalog of this moment; a request keeps the one it started with. */
  catalog(): Catalog;
  /** Bytes. */
  maxBodyBytes: number;
}

/** The handler of one inference family. */
export function createInferenceHandler(surface: InferenceSurface, deps: SurfaceDeps): Handler {
  return async (exchange) => {
    const key = readKey(surface.carriers, exchange.request.headers, exchange.search);
    const { principal, leave } = await admit(key, 'inference', deps);
    try {
      await deps.inference.ledger.checkFunds(principal);
      const body = await readBody(exchange.request, deps.maxBodyBytes);
      const client = watchClient(exchange.response);
      const result = await runInference(
        {
          id: exchange.id,
          at: exchange.at,
          startedAt: exchange.startedAt,
          surface: surface.name,
          protocol: surface.protocol,
          principal,
          catalog: deps.catalog(),
          body,
          client,
          repeatable: surface.repeatable,
          modelType: surface.modelType,
          toClientError: surface.toClientError,
        },
        deps.inference,
      );
      leaveAtEnd(result, exchange, leave);
      return result;
    } catch (error) {
      leave();
      throw error;
    }
  };
}

function leaveAtEnd(result: CallResult, { response }: HttpExchange, leave: () => void): void {
  // A response that the client closed meanwhile does not say so again.
  if (result.type === 'stream' && !response.closed) response.once('close', leave);
  else leave();
}
