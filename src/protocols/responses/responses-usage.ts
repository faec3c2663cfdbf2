import { isJsonObject } from '../../core/json/value.ts';
import { NO_USAGE, serviceOf } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { membersOf } from '../json-fields.ts';
import { countOf, isCount, serverToolCalls, toolsOf } from '../canonical/token-counts.ts';
import type { Members } from '../json-fields.ts';

/**
 * Maps a Responses usage object. Missing, negative and non-numeric counts are 0; undefined when the
 * object names neither input nor output tokens.
 */
export function fromResponsesUsage(raw: unknown): Usage | undefined {
  if (!isJsonObject(raw)) return undefined;
  if (!isCount(raw['input_tokens']) && !isCount(raw['output_tokens'])) return undefined;
  const input = countOf(raw['input_tokens']);
  const details = membersOf(raw['input_tokens_details']);
  const cacheRead = Math.min(countOf(details['cached_tokens']), input);
  const cacheWrite = Math.min(countOf(details['cache_write_tokens']), input - cacheRead);
  const output = countOf(raw['output_tokens']);
  const reasoning = countOf(membersOf(raw['output_tokens_details'])['reasoning_tokens']);
  return {
    ...NO_USAGE,
    input: input - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite5m: cacheWrite,
    output,
    reasoning: Math.min(reasoning, output),
    raw,
  };
}

/** Usage of a Response, with the tier that served it and the tools that it used. */
export function usageOfResponse(response: Members): Usage | undefined {
  const usage = fromResponsesUsage(response['usage']);
  if (!usage) return undefined;
  const service = serviceOf(response['service_tier']);
  const tools = toolsOf(countTools(response));
  return { ...usage, ...(service && { service }), ...(tools && { tools }) };
}

type ToolCounts = Parameters<typeof toolsOf>[0];

function countTools({ usage, tool_usage: told, output, tools }: Members): ToolCounts {
  const details = membersOf(usage)['server_side_tool_usage_details'];
  if (isJsonObject(details)) return serverToolCalls(details);
  const items = Array.isArray(output) ? output.filter(isJsonObject) : [];
  const ofType = (type: string): Members[] => items.filter((item) => item['type'] === type);
  const searches = membersOf(membersOf(told)['web_search'])['num_requests'];
  return {
    web_search: isCount(searches) ? searches : ofType('web_search_call').filter(isSearch).length,
    file_search: ofType('file_search_call').length,
    code_execution: containersOf(ofType('code_interpreter_call')) * gigabytesOf(tools),
    image_generation: ofType('image_generation_call').length,
  };
}

/** Opening a page that was found, and finding a text in it, cost nothing. */
function isSearch({ action }: Members): boolean {
  const { type = 'search' } = membersOf(action);
  return type === 'search';
}

/** Calls may share a container. */
function containersOf(calls: readonly Members[]): number {
  return new Set(calls.map(({ container_id: id }, index) => id ?? index)).size;
}

/** Containers are charged by their memory, of which they have 1 GB by default. */
function gigabytesOf(tools: unknown): number {
  const all = Array.isArray(tools) ? tools.filter(isJsonObject) : [];
  const sizes = all.map(({ container }) => membersOf(container)['memory_limit']);
  return Math.max(1, ...sizes.map((size) => Number.parseInt(String(size), 10) || 1));
}

/** The usage object of a Response. */
export function toResponsesUsage(usage: Usage): object {
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  const input = usage.input + usage.cacheRead + cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
}
