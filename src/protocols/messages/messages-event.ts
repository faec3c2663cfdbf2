import type { Buffer } from 'node:buffer';
import { skipString } from '../../core/json/scan.ts';
import { scanJson } from '../../core/json/json-document.ts';
import { spliceJson } from '../../core/json/splice.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { rewriteModelName } from '../model-member.ts';

type Event = Readonly<Record<string, unknown>>;

const THINKING: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);
const DELTA_TEXT = /"(?:text|thinking|partial_json)"\s*:\s*"/;

/** Measures the generated text of a delta's JSON, in its characters. */
export function measureDelta(json: string): number {
  const found = DELTA_TEXT.exec(json);
  if (!found) return 0;
  const start = found.index + found[0].length;
  return skipString(json, start - 1) - start - 1;
}

/**
 * True for an event that commits: a delta that holds anything, a block that is or begins with more than
 * empty text, a message that begins with such blocks, or a reason to stop. Kinds of blocks and deltas
 * that are not known yet count.
 */
export function hasContent({ type, content_block: block, delta, message }: Event): boolean {
  if (type === 'message_start') return isJsonObject(message) && holdsBlocks(message);
  if (type === 'content_block_start') return isJsonObject(block) && isFilled(block);
  if (type === 'content_block_delta') return isJsonObject(delta) && isFilled(delta);
  return type === 'message_delta' && isJsonObject(delta) && isStopped(delta);
}

/** True for an event in which thinking begins, whose text some models never show. */
export function opensThinking({ content_block: block, message }: Event): boolean {
  const blocks = isJsonObject(message) ? message['content'] : [block];
  return Array.isArray(blocks) && blocks.some(isThinking);
}

function isThinking(block: unknown): boolean {
  return isJsonObject(block) && THINKING.has(block['type']);
}

function holdsBlocks({ content }: Event): boolean {
  return Array.isArray(content) && content.some((block) => isJsonObject(block) && isFilled(block));
}

/** True for a message, or the delta at its end, that says why it stopped. */
export function isStopped({ stop_reason: reason }: Event): boolean {
  return typeof reason === 'string';
}

/** True when a `message_start` repeats the one before; another message restarts the answer. */
export function isSameMessage({ id }: Event, later: Event): boolean {
  return typeof id === 'string' && id === later['id'];
}

/** A member other than `type` that says something; empty lists, objects and texts do not. */
function isFilled(value: Event): boolean {
  return Object.entries(value).some(([name, one]) => name !== 'type' && !isEmpty(one));
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** A `message_start` under another model name; one whose message names none is left as it is. */
export function rewriteStartModel(payload: Buffer, model: string): Buffer {
  const { members } = scanJson(payload);
  const message = members.find(({ key }) => key === 'message');
  if (!message) return payload;
  const inner = payload.subarray(message.valueStart, message.valueEnd);
  const json = rewriteModelName(inner, model).toString('utf8');
  return spliceJson(payload, members, [{ op: 'set', key: 'message', json }]);
}
