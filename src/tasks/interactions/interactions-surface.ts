import { interactions } from '../../protocols/interactions/interactions.ts';
import { FAMILIES } from '../../surfaces/family.ts';
import type { InferenceSurface } from '../../surfaces/inference-surface.ts';

/** `POST /v1beta/interactions`, also under `/v1` (contract: Interactions protocol). */
export const interactionsSurface: InferenceSurface = {
  name: 'interactions',
  paths: ['/v1beta/interactions', '/v1/interactions'],
  family: FAMILIES.interactions,
  protocol: interactions,
  repeatable: true,
};
