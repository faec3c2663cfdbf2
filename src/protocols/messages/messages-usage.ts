import { isJsonObject } from '../../core/json-value.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';

type Members = Readonly<Record<string, unknown>>;

const PROMPT_MEMBERS = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
] as const;

/**
 * Maps a Messages usage object, whose `input_tokens` exclude cached ones. Missing, negative and
 * non-numeric counts are 0; undefined when nothing was counted at all.
 */
export function toMessagesUsage(raw: unknown): Usage | undefined {
  if (!isJsonObject(raw)) return undefined;
  const split = members(raw['cache_creation']);
  const cacheWrite1h = count(split['ephemeral_1h_input_tokens']);
  const written = count(raw['cache_creation_input_tokens']);
  const output = count(raw['output_tokens']);
  const usage: Usage = {
    ...NO_USAGE,
    input: count(raw['input_tokens']),
    cacheRead: count(raw['cache_read_input_tokens']),
    cacheWrite5m:
      written > 0 ? Math.max(0, written - cacheWrite1h) : count(split['ephemeral_5m_input_tokens']),
    cacheWrite1h,
    output,
    reasoning: Math.min(output, count(members(raw['output_tokens_details'])['thinking_tokens'])),
    raw,
  };
  const { input, cacheRead, cacheWrite5m } = usage;
  return input + cacheRead + cacheWrite5m + cacheWrite1h + output > 0 ? usage : undefined;
}

/**
 * What a stream has told of its usage so far: the counts of `later` are cumulative and replace those of
 * `earlier` one by one. Zeros for the whole prompt say nothing where its size was told before.
 */
export function joinMessagesUsage(earlier: Members | undefined, later: unknown): Members {
  const told = Object.entries(members(later)).filter(([, value]) => value !== null);
  const joined = { ...earlier, ...Object.fromEntries(told) };
  const tellsPrompt = told.some(([name, value]) => isPrompt(name) && !isNothing(value));
  if (tellsPrompt || !earlier) return joined;
  for (const name of PROMPT_MEMBERS) if (name in earlier) joined[name] = earlier[name];
  return joined;
}

function isPrompt(name: string): boolean {
  return (PROMPT_MEMBERS as readonly string[]).includes(name);
}

function isNothing(value: unknown): boolean {
  return isJsonObject(value) ? Object.values(value).every(isNothing) : count(value) === 0;
}

function count(value: unknown): number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
    ? Math.round(value)
    : 0;
}

function members(value: unknown): Members {
  return isJsonObject(value) ? value : {};
}
