import { embed, toBase64Vector, toEmbeddingInputs } from '../embedding.ts';
import { toOpenAiError } from '../mock-error.ts';
import type { Renderer } from './renderer.ts';

const DEFAULT_DIMENSIONS = 256;
const MAX_DIMENSIONS = 8192;

/** Embeddings: one vector per input, as floats or base64. */
export const embeddingsRenderer: Renderer = {
  body({ request, reply }) {
    const dimensions = toDimensions(request.body.dimensions);
    const base64 = request.body.encoding_format === 'base64';
    const input = reply.usage?.input;
    return {
      object: 'list',
      model: request.model,
      data: toEmbeddingInputs(request.body.input).map((text, index) => {
        const vector = reply.embedding ?? embed(String(text), dimensions);
        return { object: 'embedding', index, embedding: base64 ? toBase64Vector(vector) : vector };
      }),
      ...(input !== undefined && { usage: { prompt_tokens: input, total_tokens: input } }),
    };
  },
  error: toOpenAiError,
};

function toDimensions(value: unknown): number {
  return typeof value === 'number' && value >= 1
    ? Math.min(Math.floor(value), MAX_DIMENSIONS)
    : DEFAULT_DIMENSIONS;
}
