import { GatewayError } from '../../core/errors.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { PricedTool } from '../../core/usage.ts';
import { askedService } from '../asked-service.ts';
import type { AskedMembers } from '../asked-service.ts';
import { boundInput } from '../bound-input.ts';
import { readModelName } from '../model-member.ts';
import type { RequestPeek } from '../protocol.ts';
import { scanRequest } from '../scan-request.ts';
import type { RequestSource } from '../scan-request.ts';

/** Members that the gateway reads; every other one is the provider's business. */
const GUARDED = [
  'model',
  'input',
  'stream',
  'background',
  'store',
  'previous_interaction_id',
  'agent',
  'webhook_config',
  'response_format',
  'generation_config',
  'continuation_token',
];

/** Members whose values are looked at; of `input`, which may be long, only its kind is. */
const READ = GUARDED.filter((name) => name !== 'input');

const TOOLS: ReadonlyMap<unknown, PricedTool> = new Map([
  ['google_search', 'web_search'],
  ['google_maps', 'maps_search'],
]);

const ASKED: AskedMembers = {
  service: ['service_tier'],
  marks: [...TOOLS.keys()].map((type) => `"${String(type)}"`),
  toolOf: ({ type }) => TOOLS.get(type),
};

type Members = Readonly<Record<string, unknown>>;

/** Throws `invalid_json` or `invalid_request` with `param` (contract: Interactions protocol). */
export function peekInteractions(source: RequestSource): RequestPeek {
  const json = scanRequest(source, GUARDED);
  const { body, members } = json;
  const value: Members = Object.fromEntries(READ.map((name) => [name, json.get(name)]));
  refuseUnexposed(value);
  const model = readModelName(value['model']);
  checkInput(json, value);
  const stream = readFlag(value, 'stream');
  const background = readFlag(value, 'background');
  if (stream && background)
    throw invalid('background', '`background` cannot be combined with `stream`');
  const previous = readPrevious(value);
  return {
    model,
    stream,
    body,
    members,
    json,
    keepUsage: true,
    choices: 1,
    inputBound: boundInput(json),
    asks: askedService(json, ASKED),
    outputBound: outputBoundOf(value['generation_config']),
    ...(previous === undefined ? {} : { pins: [previous] }),
  };
}

/** True for work that continues after the answer. */
export function isBackground({ json }: RequestPeek): boolean {
  return json.get('background') === true;
}

/** False when the client wants nothing to be kept. */
export function isStored({ json }: RequestPeek): boolean {
  return json.get('store') !== false;
}

function refuseUnexposed(value: Members): void {
  if (isGiven(value['agent']))
    throw invalid('agent', 'agents are not served here; name a `model` instead');
  if (isGiven(value['webhook_config']))
    throw invalid('webhook_config', '`webhook_config` is not supported; poll the interaction');
  for (const [index, format] of [value['response_format']].flat().entries()) {
    if (!isJsonObject(format) || format['delivery'] !== 'uri') continue;
    const at = Array.isArray(value['response_format']) ? `[${index}]` : '';
    const message = 'delivery by `uri` is not supported; media are delivered inline';
    throw invalid(`response_format${at}.delivery`, message);
  }
}

/** A continuation of the same decode has a token in place of new input, as official clients send it. */
function checkInput(json: JsonDocument, { continuation_token: token }: Members): void {
  const kind = json.kindOf('input') ?? 'null';
  if (kind === 'string' || kind === 'array' || kind === 'object') return;
  if (kind !== 'null') throw invalid('input', '`input` must be a string, an object or an array');
  if (typeof token !== 'string' || token === '') throw invalid('input', '`input` is required');
}

function readPrevious({ previous_interaction_id: id }: Members): string | undefined {
  if (!isGiven(id)) return undefined;
  if (typeof id === 'string' && id !== '') return id;
  const name = 'previous_interaction_id';
  throw invalid(name, `\`${name}\` must be a non-empty string`);
}

function readFlag(value: Members, name: 'stream' | 'background'): boolean {
  const flag = value[name];
  if (!isGiven(flag)) return false;
  if (typeof flag === 'boolean') return flag;
  throw invalid(name, `\`${name}\` must be a boolean`);
}

function outputBoundOf(config: unknown): number | undefined {
  const bound = isJsonObject(config) ? config['max_output_tokens'] : undefined;
  return typeof bound === 'number' && Number.isSafeInteger(bound) && bound > 0 ? bound : undefined;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', { message, param });
}
