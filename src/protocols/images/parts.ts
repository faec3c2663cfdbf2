import { STANDARD } from '../family.ts';
import type { ProtocolParts } from '../protocol-parts.ts';
import type { InferenceSurface } from '../surface.ts';
import { images } from './images.ts';

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
