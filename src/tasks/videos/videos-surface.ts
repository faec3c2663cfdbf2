import { contentTasks, videos } from '../../protocols/videos/videos.ts';
import { FAMILIES } from '../../surfaces/family.ts';
import { siblingOf } from '../runs/run-record.ts';
import type { InferenceSurface } from '../../surfaces/inference-surface.ts';

/** `POST /v1/videos` (decisions: Native video tasks). A repeated call may be billed twice. */
export const videosSurface: InferenceSurface = {
  name: 'videos',
  paths: ['/v1/videos'],
  family: FAMILIES.videos,
  protocol: videos,
  repeatable: false,
  modelType: 'video',
  forms: 'also',
  lookUp: (id) => `GET /v1/videos/${siblingOf(id, 'video')}`,
};

/** `POST /v1/contents/generations/tasks`: the same task in another form. */
export const contentTasksSurface: InferenceSurface = {
  name: 'videos',
  paths: ['/v1/contents/generations/tasks'],
  family: FAMILIES.videos,
  protocol: contentTasks,
  repeatable: false,
  modelType: 'video',
  lookUp: (id) => `GET /v1/contents/generations/tasks/${siblingOf(id, 'video')}`,
};
