import { countTokens } from '../protocols/messages/count-tokens.ts';
import { messages } from '../protocols/messages/messages.ts';
import { FAMILIES } from './family.ts';
import type { InferenceSurface } from './inference-surface.ts';

/** `POST /v1/messages` (contract: Messages protocol). */
export const messagesSurface: InferenceSurface = {
  name: 'messages',
  paths: ['/v1/messages'],
  family: FAMILIES.messages,
  protocol: messages,
  repeatable: true,
};

/** `POST /v1/messages/count_tokens`: how long a prompt is, free of charge. */
export const countTokensSurface: InferenceSurface = {
  name: 'messages.count_tokens',
  paths: ['/v1/messages/count_tokens'],
  family: FAMILIES.messages,
  protocol: countTokens,
  repeatable: true,
  free: true,
};
