import { forwardBody } from '../forward-body.ts';
import type { WireProtocol } from '../protocol.ts';
import { encodeContentTask, peekContentTask } from './content-task.ts';
import { readVideosAnswer } from './videos-answer.ts';
import { encodeVideosForm, peekVideos } from './videos-request.ts';

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
