import { scanInSlices } from '../core/json/json-document.ts';
import type { JsonDocument, ValueBound } from '../core/json/json-document.ts';
import { REQUEST_MARKS } from '../protocols/scan-request.ts';
import type { HttpExchange } from './http-exchange.ts';
import { readBody } from './read-body.ts';

export interface RequestTerms {
  /** Bytes. */
  readonly maxBodyBytes: number;
  readonly bodyValues: ValueBound;
  /** Id of the key in whose name the body takes up memory. */
  readonly holder: string;
}

/**
 * Reads the body of a model call, scanned before anything is made of it. Throws as `readBody`, and
 * `invalid_json` or `invalid_request` for what is no JSON object within its bounds.
 */
export async function readRequest(
  exchange: HttpExchange,
  { maxBodyBytes: limit, bodyValues: values, holder }: RequestTerms,
): Promise<JsonDocument> {
  const body = await readBody(exchange, { limit, holder });
  return scanInSlices(body, { values, marks: REQUEST_MARKS });
}
