import type { Buffer } from 'node:buffer';
import { MINUS, NAME_BYTE, NINE, QUOTE, ZERO } from './byte-classes.ts';

/**
 * Names that nearly every request or answer has: they are recognized by their bytes, without a string of their
 * own.
 */
const COMMON_NAMES = [
  'model',
  'messages',
  'input',
  'contents',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'temperature',
  'top_p',
  'n',
  'user',
  'tools',
  'tool_choice',
  'system',
  'instructions',
  'metadata',
  'response_format',
  'reasoning',
  'store',
  'generationConfig',
  'id',
  'object',
  'created',
  'choices',
  'usage',
  'system_fingerprint',
  'service_tier',
  'index',
  'message',
  'finish_reason',
  'logprobs',
  'type',
  'role',
  'content',
  'stop_reason',
  'stop_sequence',
  'output',
  'status',
  'error',
  'candidates',
  'usageMetadata',
  'modelVersion',
];

const TABLE_SIZE = 256;
const COMMON = ((): readonly (string | undefined)[] => {
  const table: (string | undefined)[] = Array.from({ length: TABLE_SIZE });
  for (const name of COMMON_NAMES) {
    const { length } = name;
    table[placeOf(name.charCodeAt(0), name.charCodeAt(length >> 1), length)] ??= name;
  }
  return table;
})();

function placeOf(first: number, middle: number, length: number): number {
  return (first * 7 + middle * 13 + length * 31) % TABLE_SIZE;
}

/** Digits of a number that is read here; any such integer is exact. */
const MAX_DIGITS = 15;
/** Bytes of a text that is looked at here. */
const MAX_TEXT = 64;

/** The name between two quotes, as a string that keeps no longer one alive. */
export function readName(bytes: Buffer, start: number, end: number): string {
  const from = start + 1;
  const length = end - from - 1;
  if (length > 0) {
    const first = bytes[from] as number;
    const common = COMMON[placeOf(first, bytes[from + (length >> 1)] as number, length)];
    if (common?.length === length && isSame(bytes, from, common)) return common;
  }
  return readValue(bytes, start, end) as string;
}

function isSame(bytes: Buffer, from: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    if (bytes[from + index] !== name.charCodeAt(index)) return false;
  }
  return true;
}

/** The value between two offsets of a document that was scanned. */
export function readValue(bytes: Buffer, start: number, end: number): unknown {
  const first = bytes[start] as number;
  if (first === QUOTE) {
    if (isPlain(bytes, start + 1, end - 1)) return bytes.toString('latin1', start + 1, end - 1);
  } else if (end - start <= MAX_DIGITS && first !== MINUS && first >= ZERO && first <= NINE) {
    const number = readDigits(bytes, start, end);
    if (number >= 0) return number;
  } else if (end - start <= 5 && first > NINE) {
    if (first === 116) return true;
    if (first === 102) return false;
    if (first === 110) return null;
  }
  return JSON.parse(bytes.toString('utf8', start, end));
}

function isPlain(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > MAX_TEXT) return false;
  for (let at = start; at < end; at++) {
    if (NAME_BYTE[bytes[at] as number] === 0) return false;
  }
  return true;
}

/** -1 for anything but digits. */
function readDigits(bytes: Buffer, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte < ZERO || byte > NINE) return -1;
    number = number * 10 + (byte - ZERO);
  }
  return number;
}
