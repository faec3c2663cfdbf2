import { answerDocument, holds, renamed, told } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';
import { measureOutput } from './chat-output.ts';
import { usageOf } from './chat-usage.ts';

/**
 * A completion: an object with `choices` and without an error object. Some providers leave `object`
 * out; another value than `chat.completion` is another kind of answer.
 */
export function readChatAnswer(
  source: AnswerSource,
  _peek: RequestPeek,
  { logicalModel }: AnswerOptions,
): Answer | undefined {
  const document = answerDocument(source);
  if (!document || !holds(document, 'choices', '[')) return undefined;
  if (holds(document, 'error', '{')) return undefined;
  const { object = 'chat.completion' } = { object: told(document, 'object') };
  if (object !== 'chat.completion') return undefined;
  const usage = usageOf({ usage: told(document, 'usage'), x_groq: told(document, 'x_groq') });
  return {
    body: renamed(document, logicalModel),
    usage,
    outputChars: usage ? 0 : measureOutput(document.body.toString('latin1'), 'message'),
  };
}
