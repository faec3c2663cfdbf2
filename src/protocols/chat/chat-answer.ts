import type { JsonDocument } from '../../core/json/json-document.ts';
import type { Usage } from '../../core/usage.ts';
import { answerDocument, holds, renamed, told } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import { ifSome } from '../canonical/answer-elements.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';
import { isUsableChoice } from './chat-chunk.ts';
import { measureOutput } from './chat-output.ts';
import { usageOf } from './chat-usage.ts';

const CHOICES = { key: 'choices', isUsable: isUsableChoice };

/**
 * A completion: an object without an error object, with a choice that can be used. Some providers
 * leave `object` out; another value than `chat.completion` is another kind of answer.
 */
export function readChatAnswer(
  source: AnswerSource,
  _peek: RequestPeek,
  { logicalModel }: AnswerOptions,
): Answer | undefined | Promise<Answer | undefined> {
  const document = answerDocument(source);
  if (!document || holds(document, 'error', '{')) return undefined;
  const object = told(document, 'object');
  if (object !== undefined && object !== 'chat.completion') return undefined;
  return ifSome(document, CHOICES, () => toAnswer(document, logicalModel));
}

/** Usage of a completion, whether it can be used or not. */
export function readChatUsage(document: JsonDocument): Usage | undefined {
  return usageOf({
    usage: told(document, 'usage'),
    x_groq: told(document, 'x_groq'),
    service_tier: told(document, 'service_tier'),
  });
}

function toAnswer(document: JsonDocument, logicalModel: string | undefined): Answer {
  const usage = readChatUsage(document);
  return {
    body: renamed(document, logicalModel),
    usage,
    outputChars: usage ? 0 : measureOutput(document.body.toString('latin1'), 'message'),
  };
}
