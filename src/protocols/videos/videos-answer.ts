import { JsonDocument } from '../../core/json/json-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import type { Answer } from '../protocol.ts';
import { readVideo } from './video.ts';

/** A task with an id and a status that is known; anything else is not a valid answer. */
export function readVideosAnswer(source: AnswerSource): Answer | undefined {
  const body = source instanceof JsonDocument ? source.body : source;
  const found = readVideo(body);
  if (!found) return undefined;
  const { id, video, value } = found;
  return { body, usage: undefined, outputChars: 0, work: { id, status: video.state, value } };
}
