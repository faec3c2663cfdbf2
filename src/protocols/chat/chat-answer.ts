import { isAscii } from 'node:buffer';
import type { Buffer } from 'node:buffer';
import { applyPatches } from '../../core/json-splice.ts';
import { isJsonObject, parseJsonObject } from '../../core/json-value.ts';
import { modelPatches } from '../model-member.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';
import { measureOutput } from './chat-output.ts';
import { usageOf } from './chat-usage.ts';

/**
 * A completion: an object with `choices` and without an error object. Some providers leave `object`
 * out; another value than `chat.completion` is another kind of answer.
 */
export function readChatAnswer(
  body: Buffer,
  _peek: RequestPeek,
  { logicalModel }: AnswerOptions,
): Answer | undefined {
  // One character per byte: offsets in it are offsets in the body.
  const bytes = body.toString('latin1');
  const value = parseJsonObject(isAscii(body) ? bytes : body.toString('utf8'));
  if (value === undefined || !Array.isArray(value['choices'])) return undefined;
  if (isJsonObject(value['error'])) return undefined;
  if (value['object'] !== undefined && value['object'] !== 'chat.completion') return undefined;
  const patches = logicalModel === undefined ? [] : modelPatches(bytes, logicalModel);
  return {
    body: patches.length === 0 ? body : applyPatches(body, patches),
    usage: usageOf(value),
    outputChars: measureOutput(bytes, 'message'),
  };
}
