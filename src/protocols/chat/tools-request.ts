import type { JsonDocument } from '../../core/json/json-document.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { ToolsRequest } from '../capabilities/tools-protocol.ts';

/** Undefined for a request without function tools. */
export function readToolsRequest({
  json,
}: {
  readonly json: JsonDocument;
}): ToolsRequest | undefined {
  const isFunction = (tool: unknown): boolean => isJsonObject(tool) && tool['type'] === 'function';
  if (!listIn(json, 'tools').some(isFunction) && listIn(json, 'functions').length === 0)
    return undefined;
  const effort = json.get('reasoning_effort');
  return { effort: typeof effort === 'string' ? effort : undefined };
}

function listIn(json: JsonDocument, key: string): readonly unknown[] {
  const value = json.kindOf(key) === 'array' ? json.get(key) : undefined;
  return Array.isArray(value) ? value : [];
}
