import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A vendor with an OpenAI-compatible list and chat, on a free port. */
export interface FakeVendor {
  /** Base URL that ends in the version. */
  readonly baseUrl: string;
  /** Names that it lists and answers to; to be changed by tests. */
  models: string[];
  /** Status of its list. */
  listStatus: number;
  /** Paths that were asked, with the keys that came along. */
  readonly asked: { path: string; key: string | undefined; model: unknown }[];
  close(): Promise<void>;
}

export async function startVendor(models: string[]): Promise<FakeVendor> {
  const server = createServer((request, response) => void answer(request, response, vendor));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const vendor: FakeVendor = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    models,
    listStatus: 200,
    asked: [],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return vendor;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  vendor: FakeVendor,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const path = request.url ?? '';
  const key = request.headers.authorization?.replace('Bearer ', '');
  const body = chunks.length > 0 ? (JSON.parse(Buffer.concat(chunks).toString()) as object) : {};
  const model = 'model' in body ? body.model : undefined;
  vendor.asked.push({ path, key, model });
  const send = (status: number, value: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  if (path === '/v1/models') {
    const data = vendor.models.map((id) => ({ id, object: 'model', created: 1_700_000_000 }));
    return send(vendor.listStatus, { object: 'list', data });
  }
  const message = { role: 'assistant', content: `from ${String(model)}` };
  send(200, {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
}
