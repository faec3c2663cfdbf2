import { createLoadConnection } from './load-connection.ts';
import type { LoadConnection } from './load-connection.ts';

export interface LoadOptions {
  url: string;
  key: string;
  requests: number;
  connections: number;
  /** Of an inline picture, before base64. */
  imageBytes: number;
  /** Only these, by name. */
  kinds?: readonly string[];
}

type Shoot = (connection: LoadConnection) => Promise<number | void>;

const SLOW_READ_MS = 100;
const user = (content: unknown): object[] => [{ role: 'user', content }];
const ask = { messages: user('hello '.repeat(20)) };

/** Sends that many requests of every kind, always in the same order; gives how many had which status. */
export async function runMixedLoad(options: LoadOptions): Promise<Map<string, number>> {
  const { kinds: wanted } = options;
  const order = orderOf(kindsOf(options).filter(({ name }) => !wanted || wanted.includes(name)));
  const seen = new Map<string, number>();
  let next = 0;
  const client = async (): Promise<void> => {
    const connection = createLoadConnection(options.url);
    while (next < options.requests) {
      const kind = order[next++ % order.length] as { name: string; shoot: Shoot };
      const status = await kind.shoot(connection);
      const label = `${kind.name}: ${status ?? 'left'}`;
      seen.set(label, (seen.get(label) ?? 0) + 1);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: options.connections }, client));
  return seen;
}

interface Kind {
  name: string;
  /** Of a thousand requests. */
  share: number;
  shoot: Shoot;
}

function kindsOf({ url, key, imageBytes }: LoadOptions): Kind[] {
  const { host } = new URL(url);
  const http = (path: string, body: string, bearer = key): Buffer =>
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\nauthorization: Bearer ${bearer}\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  const chat = (model: string, rest: object = ask): Buffer =>
    http('/v1/chat/completions', JSON.stringify({ model, ...rest }));
  const messages = (model: string, rest: object = {}): Buffer =>
    http('/v1/messages', JSON.stringify({ model, max_tokens: 9, ...rest, ...ask }));
  const asking = (name: string, share: number, request: Buffer): Kind => ({
    name,
    share,
    shoot: (connection) => connection.ask(request),
  });
  const stream = { stream: true, ...ask };
  const picture = `data:image/png;base64,${Buffer.alloc(imageBytes).toString('base64')}`;
  const image = { messages: user([{ type: 'image_url', image_url: { url: picture } }]) };
  const endless = chat('load/endless', stream);
  const long = chat('load/long', stream);
  return [
    asking('chat', 643, chat('load/chat')),
    asking('stream', 120, chat('load/chat', stream)),
    asking('translated', 60, messages('load/chat')),
    asking('translated stream', 30, messages('load/chat', { stream: true })),
    asking('embedding', 60, http('/v1/embeddings', '{"model":"load/vectors","input":"hello"}')),
    asking('failover', 20, chat('load/failover')),
    asking('failing', 10, chat('load/broken')),
    asking('unknown model', 15, chat('load/none')),
    asking('no JSON', 10, http('/v1/chat/completions', '{"model": ')),
    asking('wrong key', 5, http('/v1/chat/completions', '{}', 'wrong')),
    asking('image in', 1, chat('load/chat', image)),
    asking('image out', 1, http('/v1/images/generations', '{"model":"load/image","prompt":"x"}')),
    { name: 'left early', share: 8, shoot: (connection) => connection.abandon(endless, 'sent') },
    { name: 'left', share: 15, shoot: (connection) => connection.abandon(endless, 'answering') },
    { name: 'slow', share: 2, shoot: (connection) => connection.askSlowly(long, SLOW_READ_MS) },
  ];
}

/** A thousand places, every kind spread over them evenly. */
function orderOf(kinds: readonly Kind[]): Kind[] {
  const list = kinds.flatMap((kind) => Array.from({ length: kind.share }, () => kind));
  // A prime that divides no sum of shares: every place is visited once.
  const step = 389;
  return list.map((_, index) => list[(index * step) % list.length] as Kind);
}
