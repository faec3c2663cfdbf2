import { images } from '../protocols/images/images.ts';
import { FAMILIES } from './family.ts';
import type { InferenceSurface } from './inference-surface.ts';

/** `POST /v1/images/generations` (contract: Images). A repeated call may be billed twice. */
export const imagesSurface: InferenceSurface = {
  name: 'images',
  paths: ['/v1/images/generations'],
  family: FAMILIES.images,
  protocol: images,
  repeatable: false,
  modelType: 'image',
};

/** `POST /v1/images/edits` (contract: Images): pictures come as the files of a form. */
export const imageEditsSurface: InferenceSurface = {
  ...imagesSurface,
  paths: ['/v1/images/edits'],
  forms: 'only',
};
