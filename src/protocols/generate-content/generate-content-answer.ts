import type { Buffer } from 'node:buffer';
import { isJsonObject, parseJsonObject } from '../../core/json-value.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';
import { measureAnswer } from './generate-content-chunk.ts';
import { toGenerateContentUsage } from './generate-content-usage.ts';
import { rewriteModelVersion } from './model-version.ts';

/** An answer holds candidates, or says why the prompt was refused, and no error. */
export function readGenerateContentAnswer(
  body: Buffer,
  _peek: RequestPeek,
  { logicalModel }: AnswerOptions,
): Answer | undefined {
  const value = parseJsonObject(body.toString('utf8'));
  if (!value || isJsonObject(value['error'])) return undefined;
  if (!Array.isArray(value['candidates']) && !isJsonObject(value['promptFeedback']))
    return undefined;
  return {
    body: logicalModel === undefined ? body : rewriteModelVersion(body, logicalModel),
    usage: toGenerateContentUsage(value['usageMetadata']),
    outputChars: measureAnswer(value),
  };
}
