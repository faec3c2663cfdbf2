import { Agent, request, type RequestListener, type ServerResponse } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';

export interface ForwardOptions {
  /** Origin of the gateway. */
  url: string;
  /**
   * True: the requests come from outside. They ask for the gateway by its own name, whatever name they
   * came by, and the console is not there.
   */
  isPublic: boolean;
}

/** Hands requests of another listener to the gateway, streamed both ways; 502 when it cannot be asked. */
export function createForward({ url, isPublic }: ForwardOptions): RequestListener {
  const { protocol, host, hostname, port } = new URL(url);
  const isTls = protocol === 'https:';
  // The gateway is this process's own, whatever name its certificate bears.
  const agent = isTls
    ? new TlsAgent({ keepAlive: true, rejectUnauthorized: false })
    : new Agent({ keepAlive: true });
  const send = isTls ? requestTls : request;
  return (incoming, response) => {
    const path = incoming.url ?? '/';
    if (isPublic && /^\/+console(?:[/?]|$)/i.test(decoded(path))) {
      return refuse(response, 404, 'the console is not served to the public');
    }
    const headers = isPublic ? { ...incoming.headers, host } : incoming.headers;
    const outgoing = send(
      { agent, hostname: bare(hostname), port, method: incoming.method, path, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
        answer.pipe(response);
        answer.once('error', () => response.destroy());
      },
    );
    outgoing.once('error', () => {
      if (response.headersSent) response.destroy();
      else refuse(response, 502, 'the gateway cannot be reached');
    });
    response.once('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message } }));
}

/** The path as the gateway may read it; what cannot be decoded stays as it is. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The address without the brackets of IPv6. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
