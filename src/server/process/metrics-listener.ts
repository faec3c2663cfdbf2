import { createServer } from 'node:http';
import type { MetricsText } from './metrics.ts';

export interface MetricsListener {
  readonly url: string;
  close(): void;
}

/**
 * Serves `GET` and `HEAD /metrics` on an address of its own: metrics are for operators, and the
 * public listener never carries them.
 */
export async function listenForMetrics(
  { host, port }: { host: string; port: number },
  read: () => Promise<MetricsText>,
): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    read().then(
      ({ type, text }) =>
        response
          .writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(text) })
          .end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new Error(`metrics cannot listen on ${host}:${port}: ${error.message}`, { cause: error }),
      );
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const bound = typeof address === 'object' && address ? address.port : port;
  return { url: `http://${host}:${bound}/metrics`, close: () => void server.close() };
}
