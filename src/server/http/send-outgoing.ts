import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { FastResponse } from 'srvx';
import type { PipeableBody } from '../../inference/types.ts';
import type { Outgoing } from '../../surfaces/http-exchange.ts';

/** Bytes that leave in one write with their head; more are not copied once more. */
const MAX_JOINED_BYTES = 16 * 1024;

/** The answer for the router's server. */
export function toWebResponse({ status, headers, body }: Outgoing): Response {
  // srvx writes buffers unchanged and pipes bodies with `pipe`; the web types know neither.
  const own = body as unknown as ConstructorParameters<typeof FastResponse>[0];
  return new FastResponse(own, { status, headers });
}

/** Sends an answer in the same bytes as the router's server does. */
export function sendOutgoing(response: ServerResponse, { status, headers, body }: Outgoing): void {
  const head: string[] = [];
  for (const name in headers) head.push(name.toLowerCase(), headers[name] as string);
  if (isPipeable(body)) {
    if (response.destroyed) return body.destroy();
    response.writeHead(status, '', head);
    return body.pipe(response);
  }
  if (body !== undefined && headers['content-length'] === undefined)
    head.push('content-length', String(Buffer.byteLength(body)));
  response.writeHead(status, '', head);
  if (Buffer.isBuffer(body) && body.length <= MAX_JOINED_BYTES)
    response.end(body.toString('latin1'), 'latin1');
  else response.end(body);
}

/** Ends an answer that could not be made or sent, without a word where its head is not out yet. */
export function failOutgoing(response: ServerResponse): void {
  if (response.writableEnded) return;
  if (response.headersSent) return void response.destroy();
  response.statusCode = 500;
  response.statusMessage = '';
  response.end();
}

function isPipeable(body: Outgoing['body']): body is PipeableBody {
  return typeof body === 'object' && 'pipe' in body;
}
