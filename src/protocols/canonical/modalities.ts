import { isJsonObject } from '../../core/json/value.ts';
import type { MediaTokens } from '../../core/usage.ts';
import { countOf, mediaOf } from './token-counts.ts';

/** Lists of tokens by modality, as Google's protocols write them; `input` includes cached tokens. */
export interface ModalityLists {
  readonly input: unknown;
  readonly tools: unknown;
  readonly cached: unknown;
  readonly output: unknown;
}

/** Undefined where nothing was counted by modality. */
export function modalitiesOf({
  input,
  tools,
  cached,
  output,
}: ModalityLists): MediaTokens | undefined {
  if (![input, tools, cached, output].some(Array.isArray)) return undefined;
  const fresh = (modality: string): number =>
    Math.max(0, sumOf(input, modality) + sumOf(tools, modality) - sumOf(cached, modality));
  return mediaOf({
    inputAudio: fresh('audio'),
    inputImage: fresh('image'),
    inputVideo: fresh('video'),
    cacheReadAudio: sumOf(cached, 'audio'),
    cacheReadImage: sumOf(cached, 'image'),
    outputAudio: sumOf(output, 'audio'),
    outputImage: sumOf(output, 'image'),
    outputVideo: sumOf(output, 'video'),
  });
}

function sumOf(list: unknown, modality: string): number {
  if (!Array.isArray(list)) return 0;
  return list.filter(isJsonObject).reduce((sum, entry) => {
    const { modality: own } = entry;
    const isSame = typeof own === 'string' && own.toLowerCase() === modality;
    return isSame ? sum + countOf(entry['tokenCount'] ?? entry['tokens']) : sum;
  }, 0);
}
