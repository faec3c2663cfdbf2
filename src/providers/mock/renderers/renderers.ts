import type { Protocol } from '../../../core/protocol-id.ts';
import { chatRenderer } from './chat.ts';
import { embeddingsRenderer } from './embeddings.ts';
import { generateContentRenderer } from './generate-content.ts';
import { imagesRenderer } from './images.ts';
import { interactionsRenderer } from './interactions.ts';
import { messagesRenderer } from './messages.ts';
import { responsesRenderer } from './responses.ts';
import { videosRenderer } from './videos.ts';
import type { Renderer } from './renderer.ts';

export const RENDERERS: Readonly<Record<Protocol, Renderer>> = {
  chat: chatRenderer,
  responses: responsesRenderer,
  messages: messagesRenderer,
  'generate-content': generateContentRenderer,
  interactions: interactionsRenderer,
  embeddings: embeddingsRenderer,
  images: imagesRenderer,
  videos: videosRenderer,
};
