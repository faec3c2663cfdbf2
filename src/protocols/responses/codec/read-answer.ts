import { atOnce } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import type { AnswerJson } from '../../canonical/codec.ts';
import type { CanonicalAnswer, Part, ToolCallPart } from '../../canonical/canonical.ts';
import { isNoCall } from '../../canonical/no-call.ts';
import { isBlank } from '../responses-output.ts';
import { usageOfResponse } from '../responses-usage.ts';
import { readCitations, readLogprobs } from './annotations.ts';
import { objectsOf, textOf } from './fields.ts';
import type { Members } from '../../json-fields.ts';
import { readReasoningItem } from './reasoning-item.ts';
import { readStop } from './stops.ts';

/** Parts that are read in one step. */
const ITEMS = 64;

/** A finished Response in the canonical form; undefined for anything else. */
export function* readResponsesAnswer({ value }: AnswerJson): Steps<CanonicalAnswer | undefined> {
  if (!isJsonObject(value) || !Array.isArray(value['output']) || isBlank(value)) return undefined;
  const parts: Part[] = [];
  for (const item of objectsOf(value['output'])) yield* readItem(item, parts);
  const stop = readStop(value, hasCalls(parts));
  if (!stop) return undefined;
  const { id, created_at: created } = value;
  return {
    id: typeof id === 'string' && id !== '' ? id : undefined,
    ...(typeof created === 'number' && { created }),
    parts,
    stop,
    usage: usageOfResponse(value),
  };
}

/** Reads an item of a provider; items of tools that it runs itself are carried as they are. */
export function readOutputItem(item: Members): Part[] {
  const parts: Part[] = [];
  atOnce(readItem(item, parts));
  return parts;
}

function* readItem(item: Members, parts: Part[]): Steps<void> {
  if (item['type'] === 'message') {
    for (const one of objectsOf(item['content'])) {
      const said = yield* readSaid(one);
      if (said) parts.push(said);
    }
  } else parts.push(...readOther(item));
  if (parts.length % ITEMS === 0) yield;
}

function readOther(item: Members): Part[] {
  if (item['type'] === 'reasoning') return [readReasoningItem(item, 'provider')];
  const opening = readCallOpening(item);
  if (!opening) return [{ type: 'opaque', origin: 'responses', value: item }];
  const text = textOf(item[opening.custom ? 'input' : 'arguments']);
  return isNoCall(opening.name, text) ? [] : [{ ...opening, arguments: text }];
}

/** Call as it begins; undefined for other items. */
export function readCallOpening({
  type,
  call_id: id,
  name,
}: Members): Omit<ToolCallPart, 'arguments'> | undefined {
  if (type !== 'function_call' && type !== 'custom_tool_call') return undefined;
  if (typeof id !== 'string' || typeof name !== 'string') return undefined;
  return { type: 'tool_call', id, name, ...(type === 'custom_tool_call' && { custom: true }) };
}

function* readSaid({
  type,
  text,
  refusal,
  annotations,
  logprobs,
}: Members): Steps<Part | undefined> {
  if (type === 'refusal' && typeof refusal === 'string') return { type, text: refusal };
  if (type !== 'output_text' || typeof text !== 'string') return undefined;
  const sources = readCitations(annotations);
  const tokens = yield* readLogprobs(logprobs);
  return {
    type: 'text',
    text,
    ...(sources.length > 0 && { citations: sources }),
    ...(tokens.length > 0 && { logprobs: tokens }),
  };
}

function hasCalls(parts: readonly Part[]): boolean {
  return parts.some(({ type }) => type === 'tool_call');
}
