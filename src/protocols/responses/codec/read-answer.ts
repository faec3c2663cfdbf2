import { parseJsonObject } from '../../../core/json/value.ts';
import type { CanonicalAnswer, Part } from '../../canonical/canonical.ts';
import { isBlank } from '../responses-failure.ts';
import { fromResponsesUsage } from '../responses-usage.ts';
import { readCitations, readLogprobs } from './annotations.ts';
import { objectsOf, textOf } from './fields.ts';
import type { Members } from '../../json-fields.ts';
import { readReasoningItem } from './reasoning-item.ts';
import { readStop } from './stops.ts';

/** A finished Response in the canonical form; undefined for what is none. */
export function readResponsesAnswer(json: string): CanonicalAnswer | undefined {
  const value = parseJsonObject(json);
  if (!value || !Array.isArray(value['output']) || isBlank(value)) return undefined;
  const parts = objectsOf(value['output']).flatMap(readOutputItem);
  const stop = readStop(value, hasCalls(parts));
  if (!stop) return undefined;
  const { id, created_at: created } = value;
  return {
    id: typeof id === 'string' && id !== '' ? id : undefined,
    ...(typeof created === 'number' && { created }),
    parts,
    stop,
    usage: fromResponsesUsage(value['usage']),
  };
}

/** What an item of a provider says; items of tools that it runs itself are carried as they are. */
export function readOutputItem(item: Members): Part[] {
  const { type, content, call_id: id, name } = item;
  if (type === 'message') return objectsOf(content).flatMap((part) => readSaid(part) ?? []);
  if (type === 'reasoning') return [readReasoningItem(item, 'provider')];
  if (type === 'function_call' && typeof id === 'string' && typeof name === 'string')
    return [{ type: 'tool_call', id, name, arguments: textOf(item['arguments']) }];
  if (type === 'custom_tool_call' && typeof id === 'string' && typeof name === 'string')
    return [{ type: 'tool_call', id, name, arguments: textOf(item['input']), custom: true }];
  return [{ type: 'opaque', origin: 'responses', value: item }];
}

function readSaid({ type, text, refusal, annotations, logprobs }: Members): Part | undefined {
  if (type === 'refusal' && typeof refusal === 'string') return { type, text: refusal };
  if (type !== 'output_text' || typeof text !== 'string') return undefined;
  const sources = readCitations(annotations);
  const tokens = readLogprobs(logprobs);
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
