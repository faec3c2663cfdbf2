import type { Protocol } from '../../core/protocol-id.ts';
import { chatRenderer } from './render-chat.ts';
import { embeddingsRenderer } from './render-embeddings.ts';
import { generateContentRenderer } from './render-generate-content.ts';
import { imagesRenderer } from './render-images.ts';
import { interactionsRenderer } from './render-interactions.ts';
import { messagesRenderer } from './render-messages.ts';
import { responsesRenderer } from './render-responses.ts';
import { videosRenderer } from './render-videos.ts';
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
