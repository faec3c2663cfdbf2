import { once } from 'node:events';
import { Agent, request as open } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { HostileRequest } from './hostile-requests.ts';
import { isEndless } from './is-endless.ts';

export interface Got {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** Sends whatever it is given over one connection that it keeps, as long as the gateway does. */
export interface KeepAliveClient {
  send(request: HostileRequest): Promise<Got>;
  close(): void;
}

const WITHIN_MS = 60_000;

export function createKeepAliveClient(url: string): KeepAliveClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    async send({ method, target, headers: given, body }) {
      const headers = { ...given, ...(body.length > 0 && { 'content-length': body.length }) };
      const signal = AbortSignal.timeout(WITHIN_MS);
      const sent = open(url, { agent, method, path: target, headers, signal });
      sent.end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const { statusCode: status = 0, headers: told } = response;
      if (isEndless({ method, status, type: told['content-type'] })) {
        response.destroy();
        return { status, headers: told, text: '' };
      }
      let text = '';
      for await (const piece of response.setEncoding('utf8')) text += piece as string;
      return { status, headers: told, text };
    },
    close: () => agent.destroy(),
  };
}
