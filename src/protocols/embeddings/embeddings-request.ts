import type { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import { scanJson } from '../../core/json/json-document.ts';
import { readModelName } from '../model-member.ts';
import type { RequestPeek } from '../protocol.ts';

/** What the gateway reads; other members, and the model's own limits, are the provider's business. */
const GUARDED = ['model', 'input', 'encoding_format'];

export type EmbeddingEncoding = 'float' | 'base64';

/** Throws `invalid_json` or `invalid_request` (contract: Embeddings). */
export function peekEmbeddings(body: Buffer): RequestPeek {
  const { value, members } = scanJson(body, GUARDED);
  const model = readModelName(value['model']);
  countInputs(value['input']);
  readEncoding(value['encoding_format']);
  return {
    model,
    stream: false,
    body,
    members,
    value,
    keepUsage: false,
    choices: 1,
    // No tokenizer makes more tokens than there are bytes.
    inputBound: body.length,
    outputBound: 0,
  };
}

/** How many vectors were asked for: a text or one list of tokens is one. Throws `invalid_request`. */
export function countInputs(input: unknown): number {
  if (typeof input === 'string') return 1;
  if (!Array.isArray(input) || input.length === 0)
    throw invalidInput(
      input === undefined ? 'is required' : 'must be a text or a list that is not empty',
    );
  if (typeof input[0] !== 'number') return input.length;
  if (!input.every((token) => typeof token === 'number'))
    throw invalidInput('must be a list of tokens or of texts, not both');
  return 1;
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
