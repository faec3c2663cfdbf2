import { forwardBody } from '../forward-body.ts';
import type { WireProtocol } from '../protocol.ts';
import { readImagesAnswer, readImagesUsage } from './images-answer.ts';
import { encodeImagesForm, peekImages } from './images-request.ts';

/** Image generations and edits (contract: Images): never streamed, never translated. */
export const images: WireProtocol = {
  id: 'images',
  peek: peekImages,
  encode: forwardBody,
  encodeForm: encodeImagesForm,
  readAnswer: readImagesAnswer,
  readUsage: readImagesUsage,
};
