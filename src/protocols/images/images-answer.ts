import type { JsonDocument } from '../../core/json/json-document.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { answerDocument, renamed, told } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import { mediaOf } from '../canonical/token-counts.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';

/** Images, at least one, each as base64 or as a URL; passed on as it came. */
export function readImagesAnswer(
  source: AnswerSource,
  _peek: RequestPeek,
  { logicalModel }: AnswerOptions,
): Answer | undefined {
  const document = answerDocument(source);
  const data = document?.get('data');
  if (!document || !Array.isArray(data) || data.length === 0 || !data.every(isImage))
    return undefined;
  return {
    body: renamed(document, logicalModel),
    usage: toImagesUsage(told(document, 'usage'), data.length),
    outputChars: 0,
  };
}

/** Tokens that an answer without images reports; no image is counted. */
export function readImagesUsage(document: JsonDocument): Usage | undefined {
  const usage = told(document, 'usage');
  return isJsonObject(usage) ? toImagesUsage(usage, 0) : undefined;
}

function isImage(entry: unknown): boolean {
  return isJsonObject(entry) && (isText(entry['b64_json']) || isText(entry['url']));
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/**
 * The images are billed by the piece where they have such a price, and tokens only as the provider
 * counted them: none are invented (requirement images.usage.authoritative).
 */
function toImagesUsage(raw: unknown, images: number): Usage {
  if (!isJsonObject(raw)) return { ...NO_USAGE, images };
  const input = count(raw['input_tokens']);
  const details = raw['input_tokens_details'];
  const inDetails = isJsonObject(details) ? details : {};
  const cacheRead = Math.min(count(inDetails['cached_tokens']), input);
  const output = count(raw['output_tokens']);
  const made = raw['output_tokens_details'];
  return {
    ...NO_USAGE,
    images,
    input: input - cacheRead,
    cacheRead,
    output,
    // Without details all output is pictures.
    media: mediaOf({
      inputImage: inDetails['image_tokens'],
      outputImage: isJsonObject(made) ? made['image_tokens'] : output,
    }),
    raw,
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
