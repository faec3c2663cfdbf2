import { defineProtocol } from '../define-protocol.ts';
import { STANDARD } from '../family.ts';
import type { InferenceSurface } from '../surface.ts';

/** Image generations, and edits of pictures that come as files of a form (contract: Images). */
export const images = defineProtocol({
  provider: { path: '/images/generations', operationReplaces: true },
  async load() {
    const { images: wire } = await import('./images.ts');
    return {
      wire,
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
  },
});
