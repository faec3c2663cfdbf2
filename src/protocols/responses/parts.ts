import { STANDARD } from '../family.ts';
import type { Family } from '../family.ts';
import type { ProtocolParts } from '../protocol-parts.ts';
import { responsesCodec } from './codec/responses-codec.ts';
import { responses } from './responses.ts';

/** The contract lists no 404 for it. */
const FAMILY: Family = {
  ...STANDARD,
  unknownModel: 400,
  noRoute: 400,
  refusals: [413],
  denials: [401, 403],
};

export const parts: ProtocolParts = {
  wire: responses,
  codec: responsesCodec,
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
