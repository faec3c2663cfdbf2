import { runInference } from '../../src/inference/run-inference.ts';
import type { Protocol } from '../../src/protocols/registry.ts';
import type { Route } from '../../src/routing/catalog.ts';

import { fakeAccount, fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { inferenceBench } from '../support/inference.ts';
import { principal } from '../usage/usage-fixtures.ts';
import { CLIENT_PROTOCOLS } from '../protocols/spoken.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
export const PRICING = { input: 100, output: 200 };

const PATH = { path: '/ask' };
const PROTOCOLS = {
  chat: PATH,
  messages: PATH,
  responses: PATH,
  'generate-content': PATH,
  embeddings: PATH,
  images: PATH,
};

const route = (name: string, priority: number, protocol: Protocol): Route =>
  fakeRoute(name, {
    priority,
    pricing: PRICING,
    protocols: new Set([protocol]),
    mapping: 'translated',
    provider: fakeAccount(name, { protocols: PROTOCOLS }),
  });

const USER = { role: 'user', content: 'hi' };
const REQUESTS: Record<string, object> = {
  chat: { messages: [USER] },
  messages: { messages: [USER], max_tokens: 10 },
  responses: { input: 'hi' },
  'generate-content': { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  embeddings: { input: ['a', 'b'] },
  images: { prompt: 'a fox' },
};

export interface Asked {
  client: Protocol;
  provider: Protocol;
  stream?: boolean;
  routes?: readonly string[];
}

/** A call through the whole pipeline, whose provider says what the test gives it. */
export function ask({ client, provider, stream = false, routes = ['a', 'b'] }: Asked) {
  const bench = inferenceBench();
  const protocol = CLIENT_PROTOCOLS.find(({ id }) => id === client);
  if (!protocol) throw new Error(`no client speaks ${client}`);
  const all = routes.map((name, index) => route(name, index, provider));
  const answer = runInference(
    {
      id: 'req_1',
      at: bench.clock.now(),
      startedAt: bench.clock.monotonic(),
      surface: client,
      protocol,
      headers: {},
      address:
        client === 'generate-content'
          ? {
              model: 'acme/one',
              operation: stream ? 'streamGenerateContent' : 'generateContent',
              query: stream ? 'alt=sse' : '',
            }
          : {},
      principal: principal(),
      catalog: fakeCatalog(fakeModel('acme/one', all)),
      body: Buffer.from(
        JSON.stringify({
          ...(client !== 'generate-content' && { model: 'acme/one', stream }),
          ...REQUESTS[client],
        }),
      ),
      client: { gone: false, onGone: () => () => undefined },
      repeatable: client !== 'images',
    },
    bench.deps,
  );
  answer.catch(() => undefined);
  const giveChunks = async (chunks: readonly Buffer[], contentType: string): Promise<void> => {
    const { sink } = bench.sent.at(-1) ?? {};
    sink?.onHead(200, { 'content-type': contentType });
    for (const chunk of chunks) sink?.onData(chunk);
    sink?.onEnd();
    for (let round = 0; round < 5; round++) await turn();
  };
  const give = async (body: unknown): Promise<void> => {
    if (typeof body === 'string') await giveChunks([Buffer.from(body)], 'text/event-stream');
    else await giveChunks([Buffer.from(JSON.stringify(body))], 'application/json');
  };
  return { ...bench, answer, give, giveChunks };
}
