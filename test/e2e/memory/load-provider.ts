import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chunk, COMPLETION } from '../../support/chat.ts';
import { sendJson } from '../../support/stage/upstream.ts';

export interface LoadProvider {
  readonly url: string;
  /** Answers that are not over. */
  unfinished(): number;
  /** Closes what clients keep open, but goes on. */
  closeIdle(): void;
  close(): Promise<void>;
}

/** The model and the wish for a stream stand at the start of every body; a picture is not kept. */
const KEPT_BYTES = 2_048;
const SHORT = Array.from({ length: 5 }, () => chunk({ content: 'word ' }));
const LONG = Array.from({ length: 200 }, () => chunk({ content: 'w'.repeat(2_000) }));
const END = `${chunk({}, 'stop')}data: [DONE]\n\n`;
const EMBEDDING = {
  object: 'list',
  model: 'up',
  data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2, 0.3] }],
  usage: { prompt_tokens: 1, total_tokens: 1 },
};

/** Plays every provider of the test of memory: its upstream models say how. */
export async function startLoadProvider(imageBytes: number): Promise<LoadProvider> {
  let unfinished = 0;
  const picture = Buffer.from(
    JSON.stringify({ created: 1, data: [{ b64_json: 'A'.repeat(imageBytes) }] }),
  );
  const server = createServer((request, response) => {
    let start = '';
    request.on('data', (data: Buffer) => {
      if (start.length < KEPT_BYTES) start += data.toString('latin1', 0, KEPT_BYTES);
    });
    request.on('end', () => {
      if (start.includes('"broken"')) return sendJson(response, 500, { error: { message: 'no' } });
      if (request.url?.endsWith('/embeddings')) return sendJson(response, 200, EMBEDDING);
      if (request.url?.endsWith('/images/generations')) return void response.end(picture);
      if (!start.includes('"stream":true')) return sendJson(response, 200, COMPLETION);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (start.includes('"endless"')) return goOn(response);
      response.end((start.includes('"long"') ? LONG : SHORT).join('') + END);
    });
    unfinished += 1;
    response.on('close', () => (unfinished -= 1));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    unfinished: () => unfinished,
    closeIdle: () => server.closeIdleConnections(),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** A word now and then, until the other side has left. */
function goOn(response: ServerResponse): void {
  response.write(SHORT[0]);
  const timer = setInterval(() => response.write(SHORT[0]), 20);
  response.on('close', () => clearInterval(timer));
}
