import type { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import { NUMBER_START } from '../../core/json/byte-classes.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import { readModelName } from '../model-member.ts';
import type { RequestPeek } from '../protocol.ts';
import { scanRequest } from '../scan-request.ts';
import type { RequestSource } from '../scan-request.ts';

/**
 * Members that the gateway reads; others, and the model's own limits, are the provider's business.
 */
const GUARDED = ['model', 'input', 'encoding_format'];

export type EmbeddingEncoding = 'float' | 'base64';

/** Throws `invalid_json` or `invalid_request` (contract: Embeddings). */
export function peekEmbeddings(source: RequestSource): RequestPeek {
  const json = scanRequest(source, GUARDED);
  const { body, members } = json;
  const model = readModelName(json.get('model'));
  countInputs(json);
  readEncoding(json.get('encoding_format'));
  return {
    model,
    stream: false,
    body,
    members,
    json,
    keepUsage: false,
    choices: 1,
    // No tokenizer makes more tokens than there are bytes.
    inputBound: body.length,
    outputBound: 0,
  };
}

/**
 * Counts the vectors that were asked for: a text or one list of tokens is one. Throws
 * `invalid_request`.
 */
export function countInputs(json: JsonDocument): number {
  const input = json.find('input');
  if (input === undefined) throw invalidInput('is required');
  const { size, isNumbers } = input;
  const kind = json.kindOf('input');
  if (kind === 'string' || isNumbers) return 1;
  if (kind !== 'array' || size === 0)
    throw invalidInput('must be a text or a list that is not empty');
  if (beginsWithNumber(json.body, input.valueStart))
    throw invalidInput('must be a list of tokens or of texts, not both');
  return size;
}

function beginsWithNumber(body: Buffer, list: number): boolean {
  let at = list + 1;
  while ((body[at] as number) <= 32) at++;
  return NUMBER_START[body[at] as number] === 1;
}

function invalidInput(what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `\`input\` ${what}`, param: 'input' });
}

/** Floats unless the client says otherwise. Throws `invalid_request`. */
export function readEncoding(format: unknown): EmbeddingEncoding {
  if (format === undefined || format === null || format === 'float') return 'float';
  if (format === 'base64') return format;
  throw new GatewayError('invalid_request', {
    message: '`encoding_format` must be float or base64',
    param: 'encoding_format',
  });
}
