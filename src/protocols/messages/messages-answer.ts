import type { JsonDocument } from '../../core/json/json-document.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { Usage } from '../../core/usage.ts';
import { answerDocument, holds, renamed, told } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import { ifSome } from '../canonical/answer-elements.ts';
import type { Members } from '../json-fields.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';
import { toMessagesUsage } from './messages-usage.ts';

const BLOCKS = { key: 'content', isUsable: isBlock };

export interface Message extends Readonly<Record<string, unknown>> {
  readonly content: readonly unknown[];
}

/** A complete message: an object with `content` whose `type` is `message` or absent. */
export function toMessage(value: unknown): Message | undefined {
  if (!isJsonObject(value) || !Array.isArray(value['content'])) return undefined;
  // Some providers leave the type out; another one is another kind of answer.
  const { type = 'message' } = value;
  return type === 'message' ? (value as Message) : undefined;
}

/** A message that says something, or why it says nothing. */
export function readMessagesAnswer(
  source: AnswerSource,
  _peek: RequestPeek,
  { logicalModel }: AnswerOptions,
): Answer | undefined | Promise<Answer | undefined> {
  const document = answerDocument(source);
  if (!document || !holds(document, 'content', '[')) return undefined;
  if (!toMessage({ type: told(document, 'type'), content: [] })) return undefined;
  const read = (): Answer => toAnswer(document, logicalModel);
  const isEnded = typeof told(document, 'stop_reason') === 'string';
  return isEnded ? read() : ifSome(document, BLOCKS, read);
}

/** Usage of a message, whether it can be used or not. */
export function readMessagesUsage(document: JsonDocument): Usage | undefined {
  return toMessagesUsage(told(document, 'usage'));
}

function toAnswer(document: JsonDocument, logicalModel: string | undefined): Answer {
  const usage = readMessagesUsage(document);
  return {
    body: renamed(document, logicalModel),
    usage,
    outputChars: usage ? 0 : sizeOfContent(document.get('content')),
  };
}

function isBlock({ type }: Members): boolean {
  return typeof type === 'string';
}

/** Size of the generated content of a message, in characters. */
export function sizeOfContent(content: unknown): number {
  if (!Array.isArray(content)) return 0;
  return content.reduce<number>((size, block) => size + sizeOf(block), 0);
}

/** Size of the generated content of a block, in characters. */
function sizeOf(block: unknown): number {
  if (!isJsonObject(block)) return 0;
  const texts = [block['text'], block['thinking']].filter((text) => typeof text === 'string');
  const input = isJsonObject(block['input']) ? JSON.stringify(block['input']) : '';
  return texts.reduce((size, text) => size + text.length, input.length);
}
