import type { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { inTurns } from '../../core/turns/in-turns.ts';
import { scanRequest } from '../../protocols/scan-request.ts';
import type { RequestSource } from '../../protocols/scan-request.ts';

const MEMBERS = ['model', 'input', 'webhook_url', 'async'];

/** The body of `POST /v1/run` (requirement run.create.body). */
export interface RunRequest {
  readonly model: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The input as it was sent. */
  readonly bytes: Buffer;
  readonly webhookUrl: string | undefined;
  readonly isAsync: boolean;
}

/**
 * Makes the input in slices, since it may be long. Rejects with `invalid_json` or
 * `invalid_request` with `param`.
 */
export async function readRunRequest(source: RequestSource): Promise<RunRequest> {
  const json = scanRequest(source, MEMBERS);
  for (const { key } of json.members)
    if (!MEMBERS.includes(key)) throw invalid(key, `is none of ${MEMBERS.join(', ')}`);
  const model = json.get('model');
  const input = await inTurns(json.getSteps('input'));
  const webhookUrl = json.get('webhook_url') ?? null;
  const isAsync = json.get('async') ?? null;
  if (model === undefined) throw invalid('model', 'is required');
  if (typeof model !== 'string' || model === '') throw invalid('model', 'must name a model');
  if (input === undefined) throw invalid('input', 'is required');
  if (!isJsonObject(input)) throw invalid('input', 'must be an object');
  if (webhookUrl !== null && typeof webhookUrl !== 'string')
    throw invalid('webhook_url', 'must be a text');
  if (isAsync !== null && typeof isAsync !== 'boolean') throw invalid('async', 'must be a boolean');
  const { valueStart, valueEnd } = json.find('input') ?? {};
  const bytes = json.body.subarray(valueStart, valueEnd);
  return { model, input, bytes, webhookUrl: webhookUrl ?? undefined, isAsync: isAsync === true };
}

/**
 * Returns the time for which the call waits for the end of the run, in ms: none for `async`, a
 * webhook or `Prefer: respond-async`, the time of `Prefer: wait=n` (RFC 7240), and never more than
 * `most`.
 */
export function waitOf(
  { isAsync, webhookUrl }: RunRequest,
  headers: IncomingHttpHeaders,
  most: number,
): number {
  if (isAsync || webhookUrl !== undefined) return 0;
  const prefer = [headers['prefer'] ?? []].flat().join(',').toLowerCase();
  const seconds = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})/.exec(prefer)?.[1];
  if (seconds !== undefined) return Math.min(Number(seconds) * 1000, most);
  return /(?:^|[,;\s])respond-async(?:$|[,;\s])/.test(prefer) ? 0 : most;
}

function invalid(param: string, what: string): GatewayError {
  const name = param.length > 100 ? `${param.slice(0, 100)}…` : param;
  return new GatewayError('invalid_request', { message: `\`${name}\` ${what}`, param: name });
}
