import type { JsonDocument } from '../../core/json/json-document.ts';
import type { Usage } from '../../core/usage.ts';
import { answerDocument, holds, renamed, told } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import { ifSome } from '../canonical/answer-elements.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';
import { blockReasonOf, isUsableCandidate, measureAnswer } from './generate-content-chunk.ts';
import { usageOfContent } from './generate-content-usage.ts';

const GROUNDING = '"groundingMetadata"';
const CANDIDATES = { key: 'candidates', isUsable: isUsableCandidate };

/** A valid answer holds a usable candidate, or a cause for refusing the prompt, and no error. */
export function readGenerateContentAnswer(
  source: AnswerSource,
  _peek: RequestPeek,
  { logicalModel }: AnswerOptions,
): Answer | undefined | Promise<Answer | undefined> {
  const document = answerDocument(source);
  if (!document || holds(document, 'error', '{')) return undefined;
  const read = (): Answer => toAnswer(document, logicalModel);
  const isBlocked =
    blockReasonOf({ promptFeedback: told(document, 'promptFeedback') }) !== undefined;
  return isBlocked ? read() : ifSome(document, CANDIDATES, read);
}

/** Usage of an answer, whether it can be used or not. */
export function readGenerateContentUsage(document: JsonDocument): Usage | undefined {
  // Candidates, which may hold pictures, are parsed only for their searches.
  const candidates = document.body.includes(GROUNDING) ? document.get('candidates') : undefined;
  return usageOfContent({ usageMetadata: told(document, 'usageMetadata'), candidates });
}

function toAnswer(document: JsonDocument, logicalModel: string | undefined): Answer {
  const usage = readGenerateContentUsage(document);
  return {
    body: renamed(document, logicalModel, 'modelVersion'),
    usage,
    outputChars: usage ? 0 : measureAnswer({ candidates: document.get('candidates') }),
  };
}
