import { createServer } from 'node:http';

export interface ReceivedWebhook {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into it
  readonly body: any;
}

export type WebhookAnswer = number | 'silence' | 'hang up' | { redirect: string };

export interface WebhookReceiver {
  readonly url: string;
  readonly host: string;
  readonly received: ReceivedWebhook[];
  /** What the next messages are answered, the last one for good. Default 200. */
  answer(...answers: WebhookAnswer[]): void;
  /** The messages of a path, once there are so many. */
  waitFor(path: string, count?: number): Promise<ReceivedWebhook[]>;
  close(): Promise<void>;
}

/** A path whose messages are always taken. */
export const AWAKE = '/awake';

/** Takes webhooks on a free port of this machine, or on the one of a receiver that was closed. */
export async function startWebhookReceiver(port = 0): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const waiting = new Set<() => void>();
  let answers: WebhookAnswer[] = [200];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const headers = request.headers as Record<string, string>;
      received.push({ path: request.url ?? '', headers, text, body: JSON.parse(text) });
      const next = answers.length > 1 && request.url !== AWAKE ? answers.shift() : answers[0];
      const answer = request.url === AWAKE ? 200 : (next ?? 200);
      if (answer === 'hang up') response.socket?.destroy();
      else if (typeof answer === 'object')
        response.writeHead(307, { location: answer.redirect }).end();
      else if (answer !== 'silence') response.writeHead(answer).end('noted');
      for (const look of waiting) look();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  const host = `127.0.0.1:${address.port}`;
  return {
    url: `http://${host}`,
    host,
    received,
    answer: (...next) => void (answers = next),
    waitFor: (path, count = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = received.filter((message) => message.path === path);
          if (found.length < count) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
