import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Streams of events that browsers opened through a proxy. */
export interface StreamCounter {
  readonly url: string;
  /** Streams that are open now, and the most that were at a time. */
  open(): number;
  most(): number;
  /** Methods and paths below `/console/api` that were asked for, in order; reads of one request apart. */
  readonly asked: string[];
  /** Targets below `/console/api` of the requests as they came, with their queries. */
  readonly requests: string[];
  close(): void;
}

const API = '/console/api';

function readsOf(target: string): string[] {
  const { pathname, searchParams } = new URL(target, 'http://gateway');
  if (pathname !== '/together') return [pathname];
  return searchParams.getAll('read').map((read) => read.split('?')[0] ?? '');
}

/** Starts a proxy before a gateway. */
export async function countStreams(target: string): Promise<StreamCounter> {
  const asked: string[] = [];
  const requests: string[] = [];
  let [open, most] = [0, 0];
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const isStream = url?.includes('/events') === true;
    if (url?.startsWith(API)) {
      requests.push(url.slice(API.length));
      asked.push(...readsOf(url.slice(API.length)).map((path) => `${method} ${path}`));
    }
    if (isStream) most = Math.max(most, ++open);
    outgoing.on('close', () => {
      if (isStream) open--;
      sent.destroy();
    });
    const sent = request(target + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    incoming.pipe(sent);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    open: () => open,
    most: () => most,
    asked,
    requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
