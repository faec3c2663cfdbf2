import { STANDARD } from '../family.ts';
import type { ProtocolParts } from '../protocol-parts.ts';
import { forwardBody } from '../forward-body.ts';
import type { WireProtocol } from '../protocol.ts';
import { readEmbeddingsAnswer, readEmbeddingsUsage } from './embeddings-answer.ts';
import { peekEmbeddings } from './embeddings-request.ts';

/** Embeddings (contract: Embeddings): never streamed, in the encoding that was asked for. */
export const embeddings: WireProtocol = {
  id: 'embeddings',
  peek: peekEmbeddings,
  encode: forwardBody,
  readsRequest: true,
  readAnswer: readEmbeddingsAnswer,
  readUsage: readEmbeddingsUsage,
};

export const parts: ProtocolParts = {
  wire: embeddings,
  surfaces: (protocol) => [
    {
      name: 'embeddings',
      paths: ['/v1/embeddings'],
      family: { ...STANDARD, unreadable: 503, refusals: [413] },
      protocol,
      repeatable: true,
      modelType: 'embedding',
    },
  ],
};
