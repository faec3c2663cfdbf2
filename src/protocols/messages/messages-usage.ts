import { isJsonObject } from '../../core/json/value.ts';
import { NO_USAGE, serviceOf } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import type { Members } from '../json-fields.ts';
import { membersOf } from '../json-fields.ts';
import { countOf, toolsOf } from '../canonical/token-counts.ts';

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
  const split = membersOf(raw['cache_creation']);
  const written = countOf(raw['cache_creation_input_tokens']);
  const told1h = countOf(split['ephemeral_1h_input_tokens']);
  const cacheWrite1h = written > 0 ? Math.min(told1h, written) : told1h;
  const output = countOf(raw['output_tokens']);
  const usage: Usage = {
    ...NO_USAGE,
    input: countOf(raw['input_tokens']),
    cacheRead: countOf(raw['cache_read_input_tokens']),
    cacheWrite5m:
      written > 0 ? written - cacheWrite1h : countOf(split['ephemeral_5m_input_tokens']),
    cacheWrite1h,
    output,
    reasoning: Math.min(
      output,
      countOf(membersOf(raw['output_tokens_details'])['thinking_tokens']),
    ),
    service: serviceOf(raw['service_tier'], raw['speed'], raw['inference_geo']),
    tools: toolsOf({
      web_search: membersOf(raw['server_tool_use'])['web_search_requests'],
    }),
    raw,
  };
  const { input, cacheRead, cacheWrite5m } = usage;
  return input + cacheRead + cacheWrite5m + cacheWrite1h + output > 0 ? usage : undefined;
}

/**
 * Joins the usage that a stream has reported so far: the counts of `later` are cumulative and
 * replace those of `earlier` one by one. Zeros for the whole prompt say nothing where its size was
 * reported before.
 */
export function joinMessagesUsage(earlier: Members | undefined, later: unknown): Members {
  const told = Object.entries(membersOf(later)).filter(([, value]) => value !== null);
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
  return isJsonObject(value) ? Object.values(value).every(isNothing) : countOf(value) === 0;
}
