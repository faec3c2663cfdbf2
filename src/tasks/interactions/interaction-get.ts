import { Buffer } from 'node:buffer';
import { GatewayError, toGatewayError } from '../../core/errors.ts';
import { isRunning } from '../../protocols/interactions/interaction.ts';
import type { Entry } from '../../store/store.ts';
import { readKey } from '../../surfaces/carriers.ts';
import { toFamilyError } from '../../surfaces/family-error.ts';
import { admit } from '../../surfaces/gate.ts';
import type { GateDeps, Need } from '../../surfaces/gate.ts';
import { watchClient } from '../../surfaces/http-exchange.ts';
import type { Handler, HttpExchange } from '../../surfaces/http-exchange.ts';
import type { Question } from '../task-family.ts';
import { toNamed, toShown } from './interaction-record.ts';
import type { InteractionRecord } from './interaction-record.ts';
import { INCLUDE_INPUT, interactionsSurface } from './interaction-task.ts';
import type { InteractionService } from './interaction-task.ts';

const CONTENT: Need = { scope: 'inference', use: 'content' };
const { family: FAMILY } = interactionsSurface;
const BELOW = /^\/v1(?:beta)?\/interactions\/([^/]+)\/?$/;

/**
 * `GET /v1beta/interactions/{id}`, also under `/v1`: the same key that created it polls it. Takes
 * `include_input`; refuses `stream=true`, since a stream cannot be taken up again.
 */
export function createInteractionGet(tasks: InteractionService, deps: GateDeps): Handler {
  return async (exchange) => {
    const key = readKey(FAMILY.carriers, exchange.request.headers, exchange.search);
    const { principal, leave } = await admit(key, CONTENT, deps);
    const gone = new AbortController();
    const forget = watchClient(exchange.response).onGone(() => gone.abort());
    try {
      const question = { query: queryOf(exchange), signal: gone.signal };
      const entry = await tasks.find(principal.keyId, idOf(exchange));
      const body = await show(entry, question, tasks);
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    } catch (thrown) {
      throw toFamilyError(FAMILY, toGatewayError(thrown));
    } finally {
      forget();
      leave();
    }
  };
}

/** A terminal Interaction whole, as long as it can be had; of a running one nothing partial. */
async function show(
  entry: Entry<InteractionRecord>,
  question: Question,
  tasks: InteractionService,
): Promise<Buffer> {
  const { value: record } = entry;
  const kept = record.kept && toNamed(record, Buffer.from(record.kept.body));
  // Nothing will change in it and nothing is missing: its provider has nothing to add.
  if (kept && record.kept?.form === 'whole' && question.query === undefined) return kept;
  // A removed account no longer answers, so that the kept copy is all there is.
  if (kept && !tasks.routeOf(record)) return kept;
  const { seen: look } = await tasks.lookUp(entry, question);
  if (typeof look === 'object')
    return kept && isRunning(look.seen.status) ? kept : toShown(record, look);
  if (kept) return kept;
  throw new GatewayError('not_found', { message: 'the provider no longer has this interaction' });
}

function queryOf({ search }: HttpExchange): string | undefined {
  const query = new URLSearchParams(search);
  const stream = query.get('stream') ?? 'false';
  if (!/^(?:false|0|)$/i.test(stream)) {
    const message = 'an interaction cannot be streamed by GET; poll it with `stream=false`';
    throw new GatewayError('invalid_request', { message, param: 'stream' });
  }
  return /^(?:true|1)$/i.test(query.get('include_input') ?? '') ? INCLUDE_INPUT : undefined;
}

function idOf({ path }: HttpExchange): string {
  const [, segment] = BELOW.exec(path) ?? [];
  try {
    if (segment !== undefined) return decodeURIComponent(segment);
  } catch {
    // There is no such id.
  }
  throw new GatewayError('not_found', { message: 'interaction not found' });
}
