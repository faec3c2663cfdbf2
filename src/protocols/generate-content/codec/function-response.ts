import { parseKeepingRaw, RawJson, stringifyWithRaw } from '../../../core/json/raw.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import { membersOfText } from '../../../core/json/scan-text.ts';
import type { ToolResultPart } from '../../canonical/canonical.ts';
import { listOf } from '../fields.ts';
import type { Members } from '../fields.ts';
import { readMedia } from './read-media.ts';

type Content = ToolResultPart['content'];

/**
 * Reads the result of a function. By convention `output` holds its output and `error` its failure;
 * a response with neither is the output itself (ai.google.dev/api, FunctionResponse).
 */
export function readFunctionResponse(
  response: Members,
): Pick<ToolResultPart, 'content' | 'isError'> {
  const { response: raw } = response;
  const json = raw instanceof RawJson ? raw.text : JSON.stringify(raw ?? {});
  const { text, isError } = readResult(json);
  const media = listOf(response, 'parts').flatMap((part) => {
    const read = readMedia(part);
    return read?.type === 'image' || read?.type === 'document' ? [read] : [];
  });
  return { content: [{ type: 'text', text }, ...media], isError };
}

function readResult(json: string): { text: string; isError: boolean } {
  const value: unknown = parseKeepingRaw(json, ['output', 'error']);
  if (!isJsonObject(value)) return { text: json, isError: false };
  const { error } = value;
  const isError = error !== undefined && error !== null;
  const names = Object.keys(value);
  const only = names.length === 1 && (isError || names[0] === 'output') ? names[0] : undefined;
  return { text: only === undefined ? json : toText(value[only]), isError };
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : stringifyWithRaw(value);
}

/** The response object that {@link readFunctionResponse} reads as these texts. */
export function writeResponse(content: Content, isError: boolean): object {
  const text = content.flatMap((one) => (one.type === 'text' ? [one.text] : [])).join('\n');
  if (isError) return { error: text };
  const members = membersOfText(text);
  const isOwn = members?.every(({ key }) => key !== 'output' && key !== 'error');
  return isOwn ? new RawJson(text) : { output: text };
}
