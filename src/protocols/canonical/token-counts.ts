import { isJsonObject } from '../../core/json/value.ts';
import type { MediaClass, MediaTokens, PricedTool, ToolUses } from '../../core/usage.ts';

/** True for a number of tokens, as providers count them; some write fractions. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

/** The number of tokens, 0 for anything else. */
export function countOf(value: unknown): number {
  return isCount(value) ? Math.round(value) : 0;
}

/** Tokens by kind, without zeros; undefined where the provider counts no kind apart. */
export function mediaOf(counts: { readonly [K in MediaClass]?: unknown }): MediaTokens | undefined {
  const told = Object.entries(counts).filter(([, count]) => isCount(count));
  if (told.length === 0) return undefined;
  return Object.fromEntries(told.filter(([, count]) => countOf(count) > 0));
}

/** Uses of tools, without zeros; undefined where there are none. */
export function toolsOf(counts: { readonly [K in PricedTool]?: unknown }): ToolUses | undefined {
  const used = Object.entries(counts)
    .map(([name, count]) => [name, countOf(count)] as const)
    .filter(([, count]) => count > 0);
  return used.length === 0 ? undefined : Object.fromEntries(used);
}

/** Calls of xAI's tools that run at its servers, as all its protocols count them. */
export function serverToolCalls(details: unknown): { readonly [K in PricedTool]?: unknown } {
  if (!isJsonObject(details)) return {};
  return {
    web_search: details['web_search_calls'],
    x_search: details['x_search_calls'],
    file_search: countOf(details['file_search_calls']) + countOf(details['document_search_calls']),
    code_execution: details['code_interpreter_calls'],
    image_generation: details['image_generation_calls'],
  };
}
