import { isJsonObject } from '../../core/json-value.ts';
import { answerDocument, holds, renamed, told } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';
import { toMessagesUsage } from './messages-usage.ts';

export interface Message extends Readonly<Record<string, unknown>> {
  readonly content: readonly unknown[];
}

/** A complete message: an object with `content` that says of itself that it is one, or nothing. */
export function toMessage(value: unknown): Message | undefined {
  if (!isJsonObject(value) || !Array.isArray(value['content'])) return undefined;
  // Some providers leave the type out; another one is another kind of answer.
  const { type = 'message' } = value;
  return type === 'message' ? (value as Message) : undefined;
}

export function readMessagesAnswer(
  source: AnswerSource,
  _peek: RequestPeek,
  { logicalModel }: AnswerOptions,
): Answer | undefined {
  const document = answerDocument(source);
  if (!document || !holds(document, 'content', '[')) return undefined;
  if (!toMessage({ type: told(document, 'type'), content: [] })) return undefined;
  const usage = toMessagesUsage(told(document, 'usage'));
  return {
    body: renamed(document, logicalModel),
    usage,
    outputChars: usage ? 0 : sizeOfContent(document.get('content')),
  };
}

function sizeOfContent(content: unknown): number {
  return (content as unknown[]).reduce<number>((size, block) => size + sizeOf(block), 0);
}

/** What of a block was generated, in characters. */
function sizeOf(block: unknown): number {
  if (!isJsonObject(block)) return 0;
  const texts = [block['text'], block['thinking']].filter((text) => typeof text === 'string');
  const input = isJsonObject(block['input']) ? JSON.stringify(block['input']) : '';
  return texts.reduce((size, text) => size + text.length, input.length);
}
