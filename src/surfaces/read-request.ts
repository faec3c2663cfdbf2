import { scanInSlices } from '../core/json/json-document.ts';
import type { JsonDocument, ValueBound } from '../core/json/json-document.ts';
import { REQUEST_MARKS } from '../protocols/scan-request.ts';
import type { HttpExchange } from './http-exchange.ts';
import { readBody } from './read-body.ts';

export interface RequestTerms {
  /** Bytes. */
  readonly maxBodyBytes: number;
  readonly bodyValues: ValueBound;
}

/**
 * Reads the body of a model call, scanned before anything is made of it. It takes up memory in the name of
 * `holder`, the id of a key. Throws as `readBody`, and `invalid_json` or `invalid_request` unless it is a JSON
 * object within its bounds.
 */
export function readRequest(
  exchange: HttpExchange,
  holder: string,
  { maxBodyBytes: limit, bodyValues: values }: RequestTerms,
): Promise<JsonDocument> {
  return readBody(exchange, { limit, holder }).then((body) =>
    scanInSlices(body, { values, marks: REQUEST_MARKS }),
  );
}
