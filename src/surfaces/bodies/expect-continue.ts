import type { IncomingMessage } from 'node:http';

/** Matches as Node.js does. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

/** True for a client that sends its body when it is told to (RFC 9110, 10.1.1). */
export function expectsContinue({
  headers,
  httpVersion,
}: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  return headers.expect !== undefined && httpVersion === '1.1' && CONTINUE.test(headers.expect);
}
