import { inTurns } from '../../core/in-turns.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import type { Usage } from '../../core/usage.ts';
import { answerDocument, holds, renamed, told } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import { someElement } from '../canonical/answer-elements.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';
import { blockReasonOf, isUsableCandidate, measureAnswer } from './generate-content-chunk.ts';
import { toGenerateContentUsage } from './generate-content-usage.ts';

/** An answer holds a candidate that says something, or says why the prompt was refused, and no error. */
export function readGenerateContentAnswer(
  source: AnswerSource,
  _peek: RequestPeek,
  options: AnswerOptions,
): Answer | undefined | Promise<Answer | undefined> {
  const document = answerDocument(source);
  return document && inTurns(readInSteps(document, options));
}

/** Usage of an answer, whether it can be used or not. */
export function readGenerateContentUsage(document: JsonDocument): Usage | undefined {
  return toGenerateContentUsage(told(document, 'usageMetadata'));
}

function* readInSteps(
  document: JsonDocument,
  { logicalModel }: AnswerOptions,
): Generator<void, Answer | undefined> {
  if (holds(document, 'error', '{')) return undefined;
  const isBlocked =
    blockReasonOf({ promptFeedback: told(document, 'promptFeedback') }) !== undefined;
  if (!isBlocked && !(yield* someElement(document, 'candidates', isUsableCandidate)))
    return undefined;
  const usage = readGenerateContentUsage(document);
  return {
    body: renamed(document, logicalModel, 'modelVersion'),
    usage,
    outputChars: usage ? 0 : measureAnswer({ candidates: document.get('candidates') }),
  };
}
