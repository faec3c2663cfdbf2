import { isJsonObject } from '../json/value.ts';

/** Member of `_meta` by which a request names its revision (MCP 2026-07-28 and later). */
export const MCP_VERSION_MEMBER = 'io.modelcontextprotocol/protocolVersion';

/** Member of `params` that the header `Mcp-Name` repeats, by method (MCP 2026-07-28, its extension of tasks). */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** The `_meta` of a message that names its revision. */
export function mcpMetaOf(message: unknown): Readonly<Record<string, unknown>> | undefined {
  const params = isJsonObject(message) ? message['params'] : undefined;
  const meta = isJsonObject(params) ? params['_meta'] : undefined;
  return isJsonObject(meta) && MCP_VERSION_MEMBER in meta ? meta : undefined;
}

/** The text of `Mcp-Name` for a request; undefined for one without that header. */
export function mcpNameOf(method: string, params: unknown): string | undefined {
  const member = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  const name = isJsonObject(params) && member !== undefined ? params[member] : undefined;
  return typeof name === 'string' ? name : undefined;
}

const CODED = /^=\?base64\?(.*)\?=$/s;
const PLAIN = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/;

/** A text as the value of a header: as it is, or in base64 with marks. */
export function toHeaderText(text: string): string {
  if (PLAIN.test(text) && !CODED.test(text)) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** The text of such a value; undefined for an invalid one. */
export function fromHeaderText(value: string): string | undefined {
  if (/[^\t\x20-\x7e]/.test(value)) return undefined;
  const coded = CODED.exec(value)?.[1];
  if (coded === undefined) return value;
  const bytes = Buffer.from(coded, 'base64');
  return bytes.toString('base64') === coded ? bytes.toString() : undefined;
}
