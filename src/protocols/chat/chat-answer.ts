import type { Buffer } from 'node:buffer';
import { isJsonObject, parseJsonObject } from '../../core/json-value.ts';
import { rewriteModelName } from '../model-member.ts';
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
  const value = parseJsonObject(body.toString('utf8'));
  if (value === undefined || !Array.isArray(value['choices'])) return undefined;
  if (isJsonObject(value['error'])) return undefined;
  if (value['object'] !== undefined && value['object'] !== 'chat.completion') return undefined;
  const usage = usageOf(value);
  return {
    body: logicalModel === undefined ? body : rewriteModelName(body, logicalModel),
    usage,
    outputChars: measureOutput(body.toString('latin1'), 'message'),
  };
}
