import type { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import { scanJson } from '../../core/json/json-document.ts';
import { spliceJson } from '../../core/json/splice.ts';
import type { JsonEdit } from '../../core/json/splice.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { SpooledBody } from '../../core/memory/spooled-body.ts';
import { askedService } from '../asked-service.ts';
import type { AskedMembers } from '../asked-service.ts';
import { boundInput } from '../bound-input.ts';
import { callFormsOf } from '../canonical/call-forms.ts';
import { forwardBody } from '../forward-body.ts';
import { readModelName } from '../model-member.ts';
import type { EncodeOptions, RequestPeek } from '../protocol.ts';
import { scanRequest } from '../scan-request.ts';
import type { RequestSource } from '../scan-request.ts';
import { withoutForeignReasoning } from './foreign-reasoning.ts';

/** Members that the gateway reads of a chat request; others are the provider's business. */
const GUARDED = ['model', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'n'];

const ASKED: AskedMembers = {
  service: ['service_tier'],
  marks: ['"web_search"'],
  toolOf: ({ type }) => (type === 'web_search' ? type : undefined),
};

/** Throws `invalid_json` or `invalid_request` (contract: Chat completions). */
export function peekChat(source: RequestSource): RequestPeek {
  const json = scanRequest(source, GUARDED);
  const { body, members } = json;
  const wanted = json.get('n');
  const choices = isPositive(wanted) ? wanted : 1;
  const outputLimit = json.get('max_completion_tokens') ?? json.get('max_tokens');
  return {
    model: readModelName(json.get('model')),
    stream: readStream(json.get('stream')),
    body,
    members,
    json,
    keepUsage: asksUsage(json.get('stream_options')),
    choices,
    inputBound: boundInput(json),
    outputBound: isPositive(outputLimit) ? outputLimit * choices : undefined,
    calls: callFormsOf(json),
    asks: askedService(json, ASKED),
  };
}

/**
 * The provider's body: the client's bytes with the model replaced, usage asked for and quirks
 * applied, without the reasoning of other protocols' providers.
 */
export function encodeChat(peek: RequestPeek, options: EncodeOptions): Buffer | SpooledBody {
  const asks = options.askUsage && peek.stream && !peek.keepUsage;
  const edits = asks ? usageEdits(peek) : [];
  const messages = withoutForeignReasoning(peek);
  if (messages === undefined) return forwardBody(peek, options, edits);
  options.losses.push('reasoning_details');
  return forwardBody(peek, options, [...edits, { op: 'set', key: 'messages', json: messages }]);
}

function readStream(stream: unknown): boolean {
  if (stream === undefined || stream === null) return false;
  if (typeof stream === 'boolean') return stream;
  throw new GatewayError('invalid_request', {
    message: '`stream` must be a boolean',
    param: 'stream',
  });
}

function asksUsage(options: unknown): boolean {
  return isJsonObject(options) && options['include_usage'] === true;
}

/** Sets `include_usage` in the client's stream options; a wrong type is left to the provider. */
function usageEdits({ body, members, json }: RequestPeek): JsonEdit[] {
  const key = 'stream_options';
  const options = json.get(key);
  if (options === undefined || options === null)
    return [{ op: 'set', key, json: '{"include_usage":true}' }];
  const member = members.find((candidate) => candidate.key === key);
  if (!isJsonObject(options) || member === undefined) return [];
  const inner = body.subarray(member.valueStart, member.valueEnd);
  const edit: JsonEdit = { op: 'set', key: 'include_usage', json: 'true' };
  return [
    { op: 'set', key, json: spliceJson(inner, scanJson(inner).members, [edit]).toString('utf8') },
  ];
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
