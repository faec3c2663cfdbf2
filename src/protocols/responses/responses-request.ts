import type { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import { quirkEdits } from '../../core/json-quirks.ts';
import { scanJson } from '../../core/json-scan.ts';
import { spliceJson } from '../../core/json-splice.ts';
import type { JsonEdit } from '../../core/json-splice.ts';
import { readModelName } from '../model-member.ts';
import type { EncodeOptions, RequestPeek } from '../protocol.ts';
import { pinsOfRequest } from './responses-pins.ts';
import { withoutForeignReasoning } from './foreign-reasoning.ts';

/** What the gateway reads from a request; other members are the provider's business. */
const GUARDED = ['model', 'stream', 'max_output_tokens', 'previous_response_id', 'input'];

/** Throws `invalid_json` or `invalid_request` (contract: Responses). */
export function peekResponses(body: Buffer): RequestPeek {
  const { value, members } = scanJson(body, GUARDED);
  const outputLimit = value['max_output_tokens'];
  return {
    model: readModelName(value['model']),
    stream: readStream(value['stream']),
    body,
    members,
    value,
    keepUsage: true,
    choices: 1,
    // No tokenizer makes more tokens than there are bytes.
    inputBound: body.length,
    outputBound: isPositive(outputLimit) ? outputLimit : undefined,
    pins: pinsOfRequest(value),
  };
}

/** The provider's body: the client's bytes with the model replaced and quirks applied. */
export function encodeResponses(
  peek: RequestPeek,
  { model, quirks, losses }: EncodeOptions,
): Buffer {
  const edits: JsonEdit[] = [];
  if (model !== peek.model) edits.push({ op: 'set', key: 'model', json: JSON.stringify(model) });
  const input = withoutForeignReasoning(peek);
  if (input !== undefined) {
    edits.push({ op: 'set', key: 'input', json: input });
    losses.push('reasoning.encrypted_content');
  }
  if (quirks !== undefined) edits.push(...quirkEdits(peek.members, quirks));
  return spliceJson(peek.body, peek.members, edits);
}

function readStream(stream: unknown): boolean {
  if (stream === undefined || stream === null) return false;
  if (typeof stream === 'boolean') return stream;
  throw new GatewayError('invalid_request', {
    message: '`stream` must be a boolean',
    param: 'stream',
  });
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
