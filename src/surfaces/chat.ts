import { chat } from '../protocols/chat/chat.ts';
import type { InferenceSurface } from './inference-surface.ts';

/** `POST /v1/chat/completions` (contract: Chat completions). */
export const chatSurface: InferenceSurface = {
  name: 'chat',
  path: '/v1/chat/completions',
  protocol: chat,
  carriers: ['bearer'],
  envelope: 'chat',
  repeatable: true,
};
