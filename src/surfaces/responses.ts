import { responses } from '../protocols/responses/responses.ts';
import { FAMILIES } from './family.ts';
import type { InferenceSurface } from './inference-surface.ts';

/** `POST /v1/responses` (contract: Responses). */
export const responsesSurface: InferenceSurface = {
  name: 'responses',
  paths: ['/v1/responses'],
  family: FAMILIES.responses,
  protocol: responses,
  repeatable: true,
};
