import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { isJsonObject } from '../../core/json/value.ts';
import type { ServerTool } from './tool-server.ts';

export interface ListLimits {
  readonly signal: AbortSignal;
  /** Milliseconds for one page. */
  readonly timeout: number;
}

const MAX_TOOLS = 256;
const MAX_PAGES = 32;
/** Characters; every request to a model has all of them. */
const MAX_DESCRIPTION = 16 * 1024;
const MAX_SCHEMA = 64 * 1024;
const MAX_NAME = 128;

// A tool that is wrong must not take the others with it.
const pageSchema = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional(),
});

/** The tools of a server, at most 256. Those that no model can be offered say why. */
export async function listTools(client: Client, limits: ListLimits): Promise<ServerTool[]> {
  const tools = new Map<string, ServerTool>();
  const refused: ServerTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.size < MAX_TOOLS; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const request = { method: 'tools/list' as const, params };
    const answer = await client.request(request, pageSchema, limits);
    for (const tool of answer.tools.slice(0, MAX_TOOLS).map(toServerTool)) {
      const isTwice = tools.has(tool.name) && tool.refusal === undefined;
      const told = isTwice ? { ...tool, refusal: 'another one of the server has its name' } : tool;
      if (told.refusal === undefined) tools.set(told.name, told);
      else refused.push(told);
    }
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return [...[...tools.values()].slice(0, MAX_TOOLS), ...refused.slice(0, MAX_TOOLS)];
}

function toServerTool(value: unknown): ServerTool {
  const { data: tool } = ToolSchema.safeParse(value);
  const name = tool?.name ?? (isJsonObject(value) ? String(value['name']) : '');
  return {
    name: name.slice(0, MAX_NAME),
    description: tool?.description?.slice(0, MAX_DESCRIPTION),
    inputSchema: tool?.inputSchema ?? {},
    isReadOnly: tool?.annotations?.readOnlyHint === true,
    isIdempotent: tool?.annotations?.idempotentHint === true,
    refusal: refusalOf(value, tool),
  };
}

function refusalOf(value: unknown, tool: z.output<typeof ToolSchema> | undefined) {
  const schema = isJsonObject(value) ? value['inputSchema'] : undefined;
  if (!tool && (!isJsonObject(schema) || schema['type'] !== 'object'))
    return 'its input schema is not that of an object';
  if (!tool) return 'it is not described as the protocol has it';
  if (tool.name === '' || tool.name.length > MAX_NAME) return 'its name is too long or empty';
  return JSON.stringify(schema).length > MAX_SCHEMA ? 'its input schema is too large' : undefined;
}
