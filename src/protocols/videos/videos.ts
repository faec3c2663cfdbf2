import { forwardBody } from '../forward-body.ts';
import type { Answer, WireProtocol } from '../protocol.ts';
import { encodeContentTask, peekContentTask } from './content-task.ts';
import { encodeVideosForm, peekVideos } from './videos-request.ts';
import { JsonDocument } from '../../core/json/json-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import { readVideo } from './video.ts';

/** Creating video tasks as the official client does (decisions: Native video tasks). */
export const videos: WireProtocol = {
  id: 'videos',
  peek: peekVideos,
  encode: forwardBody,
  encodeForm: encodeVideosForm,
  parsesAnswers: true,
  readAnswer: readVideosAnswer,
};

/** The same in the content-generation form, towards the same providers. */
export const contentTasks: WireProtocol = {
  id: 'videos',
  peek: peekContentTask,
  encode: encodeContentTask,
  parsesAnswers: true,
  readAnswer: readVideosAnswer,
};

/** A task with an id and a status that is known; anything else is not a valid answer. */
function readVideosAnswer(source: AnswerSource): Answer | undefined {
  const body = source instanceof JsonDocument ? source.body : source;
  const found = readVideo(body);
  if (!found) return undefined;
  const { id, video, value } = found;
  return { body, usage: undefined, outputChars: 0, work: { id, status: video.state, value } };
}
