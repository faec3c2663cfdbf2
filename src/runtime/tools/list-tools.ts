import { isSpecType } from '@modelcontextprotocol/client';
import type { Tool } from '@modelcontextprotocol/client';
import { isJsonObject } from '../../core/json/value.ts';
import { readParamHeaders } from './param-headers.ts';
import { ToolServerError } from './tool-server.ts';
import type { ServerTool } from './tool-server.ts';

export interface ListSource {
  /** Asks for one page; resolves with the result as the server gave it. */
  ask(params: { readonly cursor?: string }): Promise<Readonly<Record<string, unknown>>>;
  /** Arguments of calls are repeated in headers (MCP 2026-07-28 over HTTP). */
  readonly hasParamHeaders: boolean;
}

export interface ListedTools {
  readonly tools: readonly ServerTool[];
  /** Milliseconds for which the server allows the list to be kept. */
  readonly ttlMs: number;
}

const MAX_TOOLS = 256;
const MAX_PAGES = 32;
/** Characters; every request to a model has all of them. */
const MAX_DESCRIPTION = 16 * 1024;
const MAX_SCHEMA = 64 * 1024;
const MAX_NAME = 128;

/**
 * The tools of a server in its order, at most 256. Those that no model can be offered say why. Rejects with
 * `ToolServerError` for a page that is none.
 */
export async function listTools({ ask, hasParamHeaders }: ListSource): Promise<ListedTools> {
  const tools = new Map<string, ServerTool>();
  const refused: ServerTool[] = [];
  let cursor: string | undefined;
  let ttlMs = Infinity;
  for (let page = 0; page < MAX_PAGES && tools.size < MAX_TOOLS; page++) {
    const answer = await ask(cursor === undefined ? {} : { cursor });
    const { tools: listed, nextCursor, ttlMs: ttl } = answer;
    if (!Array.isArray(listed))
      throw new ToolServerError(
        'connection',
        'the server does not list its tools as the protocol has it',
      );
    // A tool that is wrong must not take the others with it.
    for (const value of listed.slice(0, MAX_TOOLS)) {
      const tool = toServerTool(value, hasParamHeaders);
      const isTwice = tools.has(tool.name) && tool.refusal === undefined;
      const told = isTwice ? { ...tool, refusal: 'another one of the server has its name' } : tool;
      if (told.refusal === undefined) tools.set(told.name, told);
      else refused.push(told);
    }
    ttlMs = Math.min(ttlMs, typeof ttl === 'number' ? ttl : 0);
    cursor = typeof nextCursor === 'string' ? nextCursor : undefined;
    if (cursor === undefined) break;
  }
  const all = [...[...tools.values()].slice(0, MAX_TOOLS), ...refused.slice(0, MAX_TOOLS)];
  return { tools: all, ttlMs };
}

function toServerTool(value: unknown, hasParamHeaders: boolean): ServerTool {
  const tool = isSpecType.Tool(value) ? value : undefined;
  const name = tool?.name ?? (isJsonObject(value) ? String(value['name']) : '');
  return {
    name: name.slice(0, MAX_NAME),
    description: tool?.description?.slice(0, MAX_DESCRIPTION),
    inputSchema: tool?.inputSchema ?? {},
    isReadOnly: tool?.annotations?.readOnlyHint === true,
    isIdempotent: tool?.annotations?.idempotentHint === true,
    refusal: refusalOf(value, tool, hasParamHeaders),
  };
}

function refusalOf(value: unknown, tool: Tool | undefined, hasParamHeaders: boolean) {
  const schema = isJsonObject(value) ? value['inputSchema'] : undefined;
  if (!tool && (!isJsonObject(schema) || schema['type'] !== 'object'))
    return 'its input schema is not that of an object';
  if (!tool) return 'it is not described as the protocol has it';
  if (tool.name === '' || tool.name.length > MAX_NAME) return 'its name is too long or empty';
  if (hasParamHeaders && !readParamHeaders(tool.inputSchema))
    return 'the headers in its input schema break the rules of the protocol';
  return JSON.stringify(schema).length > MAX_SCHEMA ? 'its input schema is too large' : undefined;
}
