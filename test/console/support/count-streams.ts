import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Streams of events that browsers opened through a proxy. */
export interface StreamCounter {
  readonly url: string;
  /** Streams that are open now, and the most that were at a time. */
  open(): number;
  most(): number;
  /** Methods and paths below `/console/api` that were asked for, in order. */
  readonly asked: string[];
  close(): void;
}

/** Starts a proxy before a gateway. */
export async function countStreams(target: string): Promise<StreamCounter> {
  const asked: string[] = [];
  let [open, most] = [0, 0];
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const isStream = url?.includes('/events') === true;
    const [path = ''] = (url ?? '').split('?');
    if (path.startsWith('/console/api/'))
      asked.push(`${method} ${path.slice('/console/api'.length)}`);
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
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
