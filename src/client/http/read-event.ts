import { parseKeepingDigits } from '../../core/json/digits.ts';
import { ClientError } from './client-error.ts';
import { fromErrorBody } from './error-body.ts';
import { isRecord } from './guards.ts';

/**
 * An event of a Session's stream from its `data`.
 *
 * @throws ClientError the error that the server sends in the stream; `invalid_response`
 */
export function readEvent(data: string): Record<string, unknown> {
  const event = parseKeepingDigits(data);
  if (!isRecord(event)) throw new ClientError({ code: 'invalid_response', message: data });
  if (event['type'] === 'error') throw new ClientError(fromErrorBody(502, data));
  return event;
}
