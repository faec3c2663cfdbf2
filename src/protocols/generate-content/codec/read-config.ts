import { GatewayError } from '../../../core/errors.ts';
import type { CanonicalRequest, ReasoningRequest } from '../../canonical/canonical.ts';
import { refused } from '../check-fields.ts';
import { fieldOf, membersOf, textOf } from '../fields.ts';
import type { Members } from '../fields.ts';
import { toJsonSchema } from './to-json-schema.ts';

const PATH = 'generationConfig';

const NUMBERS = {
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  maxOutputTokens: 'maxOutputTokens',
  seed: 'seed',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
} as const satisfies Record<string, keyof CanonicalRequest>;

/**
 * Reads the settings of `generationConfig`.
 *
 * @param unmapped takes the names of members that no other protocol has
 * @throws GatewayError `invalid_request` with the path of a member of a wrong type
 */
export function readConfig(body: Members, unmapped: Set<string>): Partial<CanonicalRequest> {
  const config = membersOf(body, PATH);
  const stop = readTexts(config, 'stopSequences');
  const logprobs = readLogprobsAsked(config, unmapped);
  const output = readOutput(config, unmapped);
  const reasoning = readThinking(membersOf(config, 'thinkingConfig'));
  return {
    ...readNumbers(config),
    ...(stop.length > 0 && { stop }),
    ...(logprobs !== undefined && { logprobs }),
    ...(output && { output }),
    ...(reasoning && { reasoning }),
  };
}

function readNumbers(config: Members): Partial<CanonicalRequest> {
  const numbers: Partial<Record<keyof CanonicalRequest, number>> = {};
  for (const name of Object.keys(NUMBERS) as (keyof typeof NUMBERS)[]) {
    const value = readNumber(config, name, PATH);
    if (value !== undefined) numbers[name] = value;
  }
  return numbers as Partial<CanonicalRequest>;
}

function readNumber(object: Members, name: string, path: string): number | undefined {
  const value = fieldOf(object, name) ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw refused(`${path}.${name}`, 'must be a number');
}

/** Throws `invalid_request` unless the field is missing or a list of strings. */
export function readTexts(object: Members, name: string, path = PATH): string[] {
  const value = fieldOf(object, name) ?? [];
  const isTexts = Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (isTexts) return value;
  throw refused(`${path}.${name}`, 'must be a list of strings');
}

function readLogprobsAsked(config: Members, unmapped: Set<string>): number | undefined {
  const count = readNumber(config, 'logprobs', PATH);
  if (fieldOf(config, 'responseLogprobs') === true) return count ?? 0;
  if (count !== undefined) unmapped.add(`${PATH}.logprobs`);
  return undefined;
}

function readOutput(config: Members, unmapped: Set<string>): CanonicalRequest['output'] {
  const type = textOf(config, 'responseMimeType');
  const own = fieldOf(config, 'responseSchema') ?? undefined;
  const schema = fieldOf(config, 'responseJsonSchema') ?? toJsonSchema(own);
  if (type === 'text/x.enum') {
    unmapped.add(`${PATH}.responseMimeType`);
    if (schema !== undefined)
      unmapped.add(`${PATH}.${own ? 'responseSchema' : 'responseJsonSchema'}`);
  } else if (schema !== undefined) return { type: 'schema', schema };
  else if (type === 'application/json') return { type: 'json' };
  return undefined;
}

function readThinking(config: Members): ReasoningRequest | undefined {
  const budget = readNumber(config, 'thinkingBudget', `${PATH}.thinkingConfig`);
  const level = textOf(config, 'thinkingLevel')?.toLowerCase();
  const show = fieldOf(config, 'includeThoughts');
  const reasoning: ReasoningRequest = {
    ...(level && !level.endsWith('_unspecified') && { effort: level }),
    // -1 leaves the amount to the model.
    ...(budget !== undefined && { enabled: budget !== 0 }),
    ...(budget !== undefined && budget > 0 && { budgetTokens: budget }),
    ...(typeof show === 'boolean' && { show }),
  };
  return Object.keys(reasoning).length > 0 ? reasoning : undefined;
}

/**
 * Throws `unsupported_feature` for settings that translated mappings refuse (contract:
 * Generate-content protocol): more than one candidate, and anything but text in the answer.
 */
export function refuseConfig(body: Members): void {
  const config = membersOf(body, PATH);
  const candidates = fieldOf(config, 'candidateCount');
  if (typeof candidates === 'number' && candidates > 1)
    throw unsupported(`${PATH}.candidateCount`, 'more than one candidate');
  const modalities = readTexts(config, 'responseModalities');
  if (modalities.some((one) => one.toUpperCase() !== 'TEXT'))
    throw unsupported(`${PATH}.responseModalities`, 'an answer of anything but text');
}

export function unsupported(param: string, what: string): GatewayError {
  const message = `\`${param}\`: no route of this model supports ${what}`;
  return new GatewayError('unsupported_feature', { message, param });
}
