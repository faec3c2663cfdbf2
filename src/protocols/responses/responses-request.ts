import type { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import type { SpooledBody } from '../../core/memory/spooled-body.ts';
import { askedService } from '../asked-service.ts';
import type { AskedMembers } from '../asked-service.ts';
import { boundInput } from '../bound-input.ts';
import { callFormsOf } from '../canonical/call-forms.ts';
import { forwardBody } from '../forward-body.ts';
import { readModelName } from '../model-member.ts';
import type { EncodeOptions, RequestPeek } from '../protocol.ts';
import { pinsOfRequest } from './responses-pins.ts';
import { scanRequest } from '../scan-request.ts';
import type { RequestSource } from '../scan-request.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { fromSignatureText, TOKEN_MARK } from '../canonical/reasoning-token.ts';
import { readElements } from './public/json-walk.ts';

/** Members that the gateway reads of a request; others are the provider's business. */
const GUARDED = [
  'model',
  'stream',
  'background',
  'store',
  'max_output_tokens',
  'previous_response_id',
  'input',
];

/** Beginnings of the types of tools that are priced by their uses. */
const TOOLS = {
  web_search: 'web_search',
  x_search: 'x_search',
  file_search: 'file_search',
  code_interpreter: 'code_execution',
  image_generation: 'image_generation',
} as const;

const BACKGROUND = { name: '`background`', param: 'background' };

const ASKED: AskedMembers = {
  service: ['service_tier'],
  marks: Object.keys(TOOLS).map((type) => `"${type}`),
  toolOf: ({ type }) => Object.entries(TOOLS).find(([name]) => String(type).startsWith(name))?.[1],
  uses: 'max_tool_calls',
};

/** Throws `invalid_json` or `invalid_request` (contract: Responses). */
export function peekResponses(source: RequestSource): RequestPeek {
  const json = scanRequest(source, GUARDED);
  const { body, members } = json;
  const background = readFlag(json, 'background');
  const outputLimit = json.get('max_output_tokens');
  return {
    model: readModelName(json.get('model')),
    stream: readFlag(json, 'stream'),
    body,
    members,
    json,
    keepUsage: true,
    choices: 1,
    inputBound: boundInput(json),
    outputBound: isPositive(outputLimit) ? outputLimit : undefined,
    pins: pinsOfRequest(json),
    background,
    nativeOnly: background ? BACKGROUND : undefined,
    unstored: json.get('store') === false,
    calls: callFormsOf(json),
    asks: askedService(json, ASKED),
  };
}

/** The provider's body: the client's bytes with the model replaced and quirks applied. */
export function encodeResponses(peek: RequestPeek, options: EncodeOptions): Buffer | SpooledBody {
  const input = withoutForeignReasoning(peek);
  if (input === undefined) return forwardBody(peek, options);
  options.losses.push('reasoning.encrypted_content');
  return forwardBody(peek, options, [{ op: 'set', key: 'input', json: input }]);
}

function readFlag(json: JsonDocument, param: 'stream' | 'background'): boolean {
  const flag = json.get(param) ?? false;
  if (typeof flag === 'boolean') return flag;
  throw new GatewayError('invalid_request', { message: `\`${param}\` must be a boolean`, param });
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

/**
 * The JSON of `input` without the reasoning that a provider of another protocol gave: one that speaks
 * Responses cannot decrypt it and would refuse the request. Undefined when there is none.
 */
function withoutForeignReasoning({ body, json }: RequestPeek): string | undefined {
  const member = json.maySee(TOKEN_MARK) && json.find('input');
  if (!member) return undefined;
  const input = json.get('input');
  if (!Array.isArray(input) || !input.some(isForeign)) return undefined;
  const text = body.toString('utf8', member.valueStart, member.valueEnd);
  const kept = readElements(text, 0).filter((_element, index) => !isForeign(input[index]));
  return `[${kept.map(({ start, end }) => text.slice(start, end)).join(',')}]`;
}

function isForeign(item: unknown): boolean {
  if (!isJsonObject(item) || item['type'] !== 'reasoning') return false;
  const content = item['encrypted_content'];
  return (
    typeof content === 'string' && fromSignatureText(content, 'responses').origin !== 'responses'
  );
}
