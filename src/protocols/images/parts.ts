import { STANDARD } from '../family.ts';
import type { ProtocolParts } from '../protocol-parts.ts';
import type { InferenceSurface } from '../surface.ts';
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

export const parts: ProtocolParts = {
  wire: images,
  surfaces(protocol) {
    const generations: InferenceSurface = {
      name: 'images',
      paths: ['/v1/images/generations'],
      family: { ...STANDARD, unknownModel: 400, refusals: [404, 413] },
      protocol,
      // A repeated call may be billed twice.
      repeatable: false,
      modelType: 'image',
    };
    return [generations, { ...generations, paths: ['/v1/images/edits'], forms: 'only' }];
  },
};
