import type { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';

/** The request once more, whose body comes when it has been read from that. */
export function replayRequest(request: IncomingMessage): IncomingMessage {
  const copy = new IncomingMessage(request.socket);
  // The connection has no further bytes of this request, so it is not read.
  copy._read = () => undefined;
  copy.httpVersion = request.httpVersion;
  copy.headers = request.headers;
  copy.rawHeaders = request.rawHeaders;
  copy.method = request.method;
  copy.url = request.url;
  return copy;
}

export function fillReplayed(copy: IncomingMessage, body: Buffer): void {
  copy.push(body);
  copy.push(null);
  copy.complete = true;
}

/** A response whose client never leaves by itself: its answer is kept for a repeat. */
export interface StandIn {
  readonly response: ServerResponse;
  /** `wasWritten`: the client has all of it. */
  close(wasWritten: boolean): void;
}

export function createStandIn(request: IncomingMessage): StandIn {
  const response = new ServerResponse(request);
  let written = false;
  Object.defineProperty(response, 'writableFinished', { get: () => written });
  return {
    response,
    close(wasWritten) {
      written = wasWritten;
      response.emit('close');
    },
  };
}

/** Fingerprint of a body: its bytes, whatever boundary a form was given this time. */
export function fingerprintBody({ headers }: IncomingMessage, body: Buffer): string {
  const type = headers['content-type'] ?? '';
  const [, quoted, bare] =
    /^multipart\/[^;]+;.*?boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(type) ?? [];
  const boundary = quoted ?? bare;
  const hash = createHash('sha256');
  if (boundary === undefined)
    return hash.update(type).update('\0').update(body).digest('base64url');
  let from = 0;
  for (let at = body.indexOf(boundary); at >= 0; at = body.indexOf(boundary, from)) {
    hash.update(body.subarray(from, at)).update('\0boundary\0');
    from = at + boundary.length;
  }
  return hash.update(body.subarray(from)).digest('base64url');
}
