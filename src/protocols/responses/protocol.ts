import { defineProtocol } from '../define-protocol.ts';
import { STANDARD } from '../family.ts';
import type { Family } from '../family.ts';

/** The contract lists no 404 for it. */
const FAMILY: Family = {
  ...STANDARD,
  unknownModel: 400,
  noRoute: 400,
  refusals: [413],
  denials: [401, 403],
};

/** Responses (contract: Responses). */
export const responses = defineProtocol({
  provider: { path: '/responses' },
  bindsReasoning: true,
  async load() {
    const [{ responses: wire }, { responsesCodec: codec }] = await Promise.all([
      import('./responses.ts'),
      import('./codec/responses-codec.ts'),
    ]);
    return {
      wire,
      codec,
      surfaces: (protocol) => [
        {
          name: 'responses',
          paths: ['/v1/responses'],
          family: FAMILY,
          protocol,
          repeatable: true,
        },
      ],
    };
  },
});
