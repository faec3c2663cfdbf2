import { GatewayError, toGatewayError } from '../../core/errors.ts';
import { readKey } from '../../surfaces/carriers.ts';
import { FAMILIES, toFamilyError } from '../../surfaces/family.ts';
import { admit } from '../../surfaces/gate.ts';
import type { GateDeps } from '../../surfaces/gate.ts';
import { watchClient } from '../../surfaces/http-exchange.ts';
import type { Handler, HttpExchange } from '../../surfaces/http-exchange.ts';
import type { InteractionDesk } from './interaction-desk.ts';

const FAMILY = FAMILIES.interactions;
const BELOW = /^\/v1(?:beta)?\/interactions\/([^/]+)$/;

/**
 * `GET /v1beta/interactions/{id}`, also under `/v1`: the same key that created it polls it. Takes
 * `include_input`; refuses `stream=true`, since a stream cannot be taken up again.
 */
export function createInteractionGet(desk: InteractionDesk, deps: GateDeps): Handler {
  return async (exchange) => {
    const key = readKey(FAMILY.carriers, exchange.request.headers, exchange.search);
    const { principal, leave } = await admit(key, 'inference', deps);
    const gone = new AbortController();
    const forget = watchClient(exchange.response).onGone(() => gone.abort());
    try {
      const options = { ...optionsOf(exchange), signal: gone.signal };
      const body = await desk.get(principal.keyId, idOf(exchange), options);
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    } catch (thrown) {
      throw toFamilyError(FAMILY, toGatewayError(thrown));
    } finally {
      forget();
      leave();
    }
  };
}

function optionsOf({ search }: HttpExchange): { includeInput: boolean } {
  const query = new URLSearchParams(search);
  const stream = query.get('stream') ?? 'false';
  if (!/^(?:false|0|)$/i.test(stream)) {
    const message = 'an interaction cannot be streamed by GET; poll it with `stream=false`';
    throw new GatewayError('invalid_request', { message, param: 'stream' });
  }
  return { includeInput: /^(?:true|1)$/i.test(query.get('include_input') ?? '') };
}

function idOf({ path }: HttpExchange): string {
  const [, segment] = BELOW.exec(path) ?? [];
  try {
    if (segment !== undefined) return decodeURIComponent(segment);
  } catch {
    // Not an id that anybody was given.
  }
  throw new GatewayError('not_found', { message: 'interaction not found' });
}
