import { isJsonObject } from '../../core/json/value.ts';

/** Members of a step or delta that are no generated text. */
const NOT_TEXT: ReadonlySet<string> = new Set([
  'type',
  'id',
  'call_id',
  'data',
  'uri',
  'url',
  'mime_type',
  'signature',
  'status',
]);
const MAX_DEPTH = 16;

/** Characters of text, thoughts and arguments in steps, outputs or a delta; the basis of an estimate. */
export function measureOutput(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length;
  if (depth > MAX_DEPTH) return 0;
  if (Array.isArray(value)) return sum(value.map((item) => measureOutput(item, depth + 1)));
  if (!isJsonObject(value) || value['type'] === 'user_input') return 0;
  const members = Object.entries(value).filter(([name]) => !NOT_TEXT.has(name));
  return sum(members.map(([, member]) => measureOutput(member, depth + 1)));
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}
