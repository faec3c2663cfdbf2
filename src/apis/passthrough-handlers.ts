import type { ServerResponse } from 'node:http';
import { GatewayError, toGatewayError } from '../core/errors.ts';
import type { Spools } from '../core/memory/spool.ts';
import type { CallResult, PipeableBody } from '../inference/types.ts';
import type { InferenceDeps } from '../inference/run-inference.ts';
import type { ApiMethod } from '../routing/api.ts';
import { toFamilyError } from '../surfaces/family-error.ts';
import type { Family } from '../protocols/family.ts';
import type { GateDeps } from '../surfaces/gate.ts';
import { onceClosed, watchClient } from '../surfaces/http-exchange.ts';
import type { Handler, HttpExchange, Reply } from '../surfaces/http-exchange.ts';
import { admitFunded } from '../surfaces/inference-surface.ts';
import type { Principal } from '../usage/principal.ts';
import { receiveBody } from './receive-body.ts';
import { noteRefusal, planApiCall, runApiCall } from './run-api-call.ts';
import type { ApiDeps } from './run-api-call.ts';
import { toUriText } from './target.ts';
import type { TargetAddress } from './target.ts';

export const PASSTHROUGH_PATH = '/v1/api';

/** Contract: Authentication 2, Errors. */
const FAMILY: Family = {
  carriers: ['bearer'],
  envelope: 'flat',
  keySpent: 402,
  unknownModel: 404,
  noRoute: 404,
  unreadable: 502,
};

export interface PassthroughDeps extends ApiDeps, GateDeps {
  inference: InferenceDeps;
  /** Bytes of a request body. */
  maxBodyBytes: number;
  spools: Spools;
}

/**
 * `GET` and `POST /v1/api/{vendor}/{upstream_path}` (contract: Capability runner and passthrough): the
 * same method, query and body at the API, its status, content type and body in return.
 */
export function createPassthroughHandler(deps: PassthroughDeps): Handler {
  return async (exchange) => {
    const { principal, leave } = await admitFunded({ family: FAMILY, name: 'api' }, exchange, deps);
    onceClosed(exchange.response, leave);
    try {
      return await pass(exchange, principal, deps);
    } catch (thrown) {
      throw toFamilyError(FAMILY, toGatewayError(thrown));
    }
  };
}

async function pass(
  exchange: HttpExchange,
  principal: Principal,
  deps: PassthroughDeps,
): Promise<Reply | CallResult> {
  const { id, at, startedAt, request, response } = exchange;
  const { vendor, address } = read(exchange);
  const client = watchClient(response);
  const head = { id, at, startedAt, surface: 'api', principal };
  const { planned, received } = await prepare(exchange, {
    asked: { vendor, method: request.method as ApiMethod, address },
    principal,
    deps,
  }).catch((thrown: unknown) => {
    throw noteRefusal({ ...head, model: vendor }, thrown, deps);
  });
  const { body, dispose } = received;
  const letGo = (): void => {
    exchange.intake.release();
    void dispose().catch((thrown: unknown) => deps.inference.onBug(thrown, id));
  };
  try {
    const {
      status,
      headers,
      body: answer,
      settled,
    } = await runApiCall(
      {
        ...planned,
        ...head,
        headers: request.headers,
        body,
        client,
        raw: true,
        // A tidy end would pass for the whole.
        onBroken: () => response.destroy(),
      },
      deps,
    );
    settled.then(letGo, (thrown: unknown) => deps.inference.onBug(thrown, id));
    if (!answer) return { status, headers };
    return { type: 'stream', status, headers, body: headFirst(answer, response) };
  } catch (error) {
    letGo();
    throw error;
  }
}

interface Preparation {
  readonly asked: Parameters<typeof planApiCall>[0];
  readonly principal: Principal;
  readonly deps: PassthroughDeps;
}

/** Looks the call up, then takes its body. Rejects as either does. */
async function prepare(exchange: HttpExchange, { asked, principal, deps }: Preparation) {
  const planned = planApiCall(asked, principal, deps.catalog());
  const received = await receiveBody(exchange, {
    limit: deps.maxBodyBytes,
    holder: principal.keyId,
    spools: deps.spools,
    whole: planned.api.auth.type === 'signature',
  });
  return { planned, received };
}

/** Sends the head when it is known: a body may take its time, and Node.js waits for its first byte. */
function headFirst(body: PipeableBody, response: ServerResponse): PipeableBody {
  return {
    pipe(target) {
      body.pipe(target);
      if (!response.writableEnded) response.flushHeaders();
    },
    destroy: () => body.destroy(),
  };
}

/** The name of the API, and the rest of the path as it was sent. Throws `not_found`. */
function read({ path, search }: HttpExchange): { vendor: string; address: TargetAddress } {
  const match = /^\/v1\/api\/([^/]+)(\/.*)?$/s.exec(path);
  if (!match) throw new GatewayError('not_found', { message: 'no such path' });
  const [, vendor = '', rest = ''] = match;
  return {
    vendor: decode(vendor),
    address: { path: toUriText(rest, 'latin1'), search: toUriText(search, 'latin1') },
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new GatewayError('not_found', { message: 'no such path' });
  }
}
