import { createHash } from 'node:crypto';
import type { JsonObject } from '../json.ts';
import { toOpenAiError } from '../mock-error.ts';
import { encodePng } from '../png.ts';
import type { Renderer, Rendering } from './renderer.ts';

const TOKENS_PER_IMAGE = 256;
const MAX_IMAGES = 10;

/** Images: one-pixel PNGs whose colour follows from the prompt. */
export const imagesRenderer: Renderer = {
  body(rendering) {
    const { request, scripted, created } = rendering;
    const prompt = request.userText;
    const asUrl = request.body.response_format === 'url';
    const images = Math.min(Math.max(Math.floor(Number(request.body.n ?? 1)) || 1, 1), MAX_IMAGES);
    return {
      created,
      output_format: 'png',
      size: request.body.size ?? '1024x1024',
      data: Array.from({ length: images }, (_, i) => {
        const hash = createHash('sha256').update(`${i}:${prompt}`).digest();
        const png = encodePng([hash.readUInt8(0), hash.readUInt8(1), hash.readUInt8(2)]).toString(
          'base64',
        );
        return asUrl ? { url: `data:image/png;base64,${png}` } : { b64_json: png };
      }),
      ...(scripted.usage !== null && { usage: toImageUsage(rendering, images) }),
    };
  },
  error: toOpenAiError,
};

/** Counts come from the request; a cassette's `usage` overrides them. */
function toImageUsage({ request, scripted }: Rendering, images: number): JsonObject {
  const pictures = Number(request.body.files ?? 0) * TOKENS_PER_IMAGE;
  const input = scripted.usage?.input_tokens ?? request.inputTokens + pictures;
  const output = scripted.usage?.output_tokens ?? images * TOKENS_PER_IMAGE;
  const imageTokens = Math.min(pictures, input);
  return {
    input_tokens: input,
    input_tokens_details: { text_tokens: input - imageTokens, image_tokens: imageTokens },
    output_tokens: output,
    total_tokens: input + output,
  };
}
