import type { Buffer } from 'node:buffer';
import { isJsonObject } from '../../core/json/value.ts';
import { formatSse } from '../../core/sse/frame.ts';
import { isBlank } from './responses-output.ts';

type Members = Readonly<Record<string, unknown>>;

/** Items that begin empty; the beginning of any other one is a tool at work. */
const EMPTY_AT_FIRST: ReadonlySet<unknown> = new Set(['message', 'reasoning']);
const BEFORE_CONTENT: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
]);

/** True for an event that commits: text, reasoning, a tool at work, a refusal, or an end that says something. */
export function hasContent(type: string, { delta, item, part, response }: Members): boolean {
  if (BEFORE_CONTENT.has(type)) return false;
  if (type === 'response.completed') return isJsonObject(response) && !isBlank(response);
  if (type.endsWith('.delta')) return delta !== '';
  if (type === 'response.output_item.added')
    return !isJsonObject(item) || !EMPTY_AT_FIRST.has(item['type']);
  if (type.endsWith('_part.added'))
    return isJsonObject(part) && Boolean(part['text'] || part['refusal']);
  return true;
}

/** True for an event of a reasoning item, whose text some models never show. */
export function isOfReasoning(type: string, { item }: Members): boolean {
  return (
    type.startsWith('response.reasoning_') || (isJsonObject(item) && item['type'] === 'reasoning')
  );
}

interface PublicError {
  readonly code: string | null;
  readonly message: string;
  readonly param?: unknown;
}

/** The last event of a stream that failed. */
export function toErrorEvent({ code, message, param }: PublicError, sequence: number): Buffer {
  const data = {
    type: 'error',
    code,
    message,
    param: typeof param === 'string' ? param : null,
    sequence_number: sequence,
  };
  return formatSse({ event: 'error', data: JSON.stringify(data) });
}
