import { isJsonObject } from '../../core/json/value.ts';
import { toHeaderText } from '../../core/mcp/mcp-headers.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Path of an argument, by the header that repeats it (MCP 2026-07-28, Streamable HTTP, `x-mcp-header`). */
export type ParamHeaders = ReadonlyMap<string, readonly string[]>;

const MEMBER = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];

/** Undefined for a schema whose headers break the rules: its tool must not be offered. */
export function readParamHeaders(schema: Schema): ParamHeaders | undefined {
  const headers = new Map<string, readonly string[]>();
  collect(schema, [], headers);
  // Each annotation must be reachable through `properties`, valid, and unique.
  const annotations = JSON.stringify(schema).match(/"x-mcp-header":(?!\{)/g) ?? [];
  return annotations.length === headers.size ? headers : undefined;
}

function collect(node: Schema, path: readonly string[], to: Map<string, readonly string[]>): void {
  const name = node[MEMBER];
  if (
    path.length > 0 &&
    typeof name === 'string' &&
    TOKEN.test(name) &&
    TYPES.includes(node['type'])
  )
    to.set(name.toLowerCase(), path);
  const { properties } = node;
  if (!isJsonObject(properties)) return;
  for (const [key, child] of Object.entries(properties))
    if (isJsonObject(child)) collect(child, [...path, key], to);
}

/** Headers of a call. An argument that is absent, null or no safe value has none. */
export function toParamHeaders(headers: ParamHeaders, input: Schema): Record<string, string> {
  const written = [...headers].flatMap(([name, path]) => {
    const value = path.reduce<unknown>(
      (at, key) => (isJsonObject(at) ? at[key] : undefined),
      input,
    );
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const isSafe =
      typeof value === 'number' ? Number.isSafeInteger(value) : TYPES.includes(typeof value);
    return isSafe ? [[`mcp-param-${name}`, toHeaderText(text)]] : [];
  });
  return Object.fromEntries(written) as Record<string, string>;
}
