import type { MockProtocol } from '../mock-route.ts';
import { chatRenderer } from './chat.ts';
import { embeddingsRenderer } from './embeddings.ts';
import { generateContentRenderer } from './generate-content.ts';
import { imagesRenderer } from './images.ts';
import { interactionsRenderer } from './interactions.ts';
import { messagesRenderer } from './messages.ts';
import { responsesRenderer } from './responses.ts';
import { videosRenderer } from './videos.ts';
import type { Renderer } from './renderer.ts';

/** Answers of the protocols that the mock speaks. */
export const RENDERERS = {
  chat: chatRenderer,
  responses: responsesRenderer,
  messages: messagesRenderer,
  'generate-content': generateContentRenderer,
  interactions: interactionsRenderer,
  embeddings: embeddingsRenderer,
  images: imagesRenderer,
  videos: videosRenderer,
} as const satisfies Record<MockProtocol, Renderer>;
