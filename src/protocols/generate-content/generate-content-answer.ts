import { answerDocument, holds, renamed, told } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';
import { measureAnswer } from './generate-content-chunk.ts';
import { toGenerateContentUsage } from './generate-content-usage.ts';

/** An answer holds candidates, or says why the prompt was refused, and no error. */
export function readGenerateContentAnswer(
  source: AnswerSource,
  _peek: RequestPeek,
  { logicalModel }: AnswerOptions,
): Answer | undefined {
  const document = answerDocument(source);
  if (!document || holds(document, 'error', '{')) return undefined;
  if (!holds(document, 'candidates', '[') && !holds(document, 'promptFeedback', '{'))
    return undefined;
  const usage = toGenerateContentUsage(told(document, 'usageMetadata'));
  return {
    body: renamed(document, logicalModel, 'modelVersion'),
    usage,
    outputChars: usage ? 0 : measureAnswer({ candidates: document.get('candidates') }),
  };
}
