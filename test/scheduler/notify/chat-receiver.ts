import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface ReceivedMessage {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into messages of every provider
  readonly body: any;
}

export type ReceiverAnswer =
  | { readonly status: number; readonly body: string; readonly location?: string }
  /** Answers nothing at all. */
  | 'silence'
  /** Ends the connection. */
  | 'hang up';

export interface ChatReceiver {
  readonly url: string;
  readonly received: ReceivedMessage[];
  /** What the next messages are answered, the last one for good. Default: Slack's `ok`. */
  answer(...answers: ReceiverAnswer[]): void;
  /** Resolves with the first message that fits, also one that came before. */
  waitFor(fits: (message: ReceivedMessage) => boolean): Promise<ReceivedMessage>;
  close(): Promise<void>;
}

/** A chat provider on a free port of this machine. */
export async function startChatReceiver(): Promise<ChatReceiver> {
  const received: ReceivedMessage[] = [];
  const waiting = new Set<() => void>();
  let answers: ReceiverAnswer[] = [{ status: 200, body: 'ok' }];
  const reply = (response: ServerResponse): void => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer === undefined || answer === 'silence') return;
    if (answer === 'hang up') return void response.socket?.destroy();
    const { status, body, location } = answer;
    response.writeHead(status, location === undefined ? {} : { location }).end(body);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      received.push({ path: request.url ?? '', headers: request.headers, body });
      reply(response);
      for (const look of waiting) look();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    received,
    answer: (...next) => void (answers = next),
    waitFor: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = received.find((message) => fits(message));
          if (!found) return;
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
