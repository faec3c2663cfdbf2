import { chat } from '../protocols/chat/chat.ts';
import { FAMILIES } from './family.ts';
import type { InferenceSurface } from './inference-surface.ts';

/** `POST /v1/chat/completions` (contract: Chat completions). */
export const chatSurface: InferenceSurface = {
  name: 'chat',
  paths: ['/v1/chat/completions'],
  family: FAMILIES.chat,
  protocol: chat,
  repeatable: true,
};
