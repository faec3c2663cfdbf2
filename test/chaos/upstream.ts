import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './random.ts';

/** One call that reached the provider. */
export interface UpstreamCall {
  /** What the caller marked its words with. */
  readonly mark: string;
  /** The provider's name of the model. */
  readonly model: string;
  readonly at: number;
  readonly input: number;
  output: number;
  /** The answer went out to its end. */
  isAnswered: boolean;
}

/** The provider of all models, with a record of its own. */
export interface Upstream {
  readonly url: string;
  readonly calls: UpstreamCall[];
  close(): Promise<void>;
}

const MAX_DELAY_MS = 40;
const PIECE_MS = 15;
/** Characters; an answer costs less than its prompt, which is all that is known of a whole one under way. */
const MAX_PADDING = 16;
/** The last mark of a text is that of what is asked now. */
const MARK = /#([a-z]\d+)#/g;

export const marksIn = (text: string): string[] =>
  Array.from(text.matchAll(MARK), ([, mark]) => mark ?? '');

/** In micro-dollars per token of the model `tokens`, as the gateways are told. */
export const costOf = ({ input, output }: Pick<UpstreamCall, 'input' | 'output'>): number =>
  input * 1 + output * 2;

export async function startUpstream(random: Random): Promise<Upstream> {
  const calls: UpstreamCall[] = [];
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readJson(request);
    const said = body.messages.map((message) => JSON.stringify(message.content ?? ''));
    const mark = said.flatMap(marksIn).at(-1) ?? '';
    const call: UpstreamCall = {
      mark,
      model: body.model,
      at: Date.now(),
      input: tokensIn(said.join('')),
      output: 0,
      isAnswered: false,
    };
    calls.push(call);
    response.on('finish', () => (call.isAnswered = true));
    await sleep(random.between(0, MAX_DELAY_MS));
    const delta = toDelta(body, mark, random.between(0, MAX_PADDING));
    call.output = tokensIn(JSON.stringify(delta.content ?? delta.tool_calls));
    if (body.stream === true) await stream(response, body, { call, delta });
    else response.setHeader('content-type', 'application/json').end(whole(call, delta));
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Asked {
  readonly model: string;
  readonly stream?: boolean;
  readonly stream_options?: { include_usage?: boolean };
  readonly messages: { role: string; content?: unknown }[];
  readonly tools?: { function: { name: string } }[];
}

interface Delta {
  readonly content?: string;
  readonly tool_calls?: object[];
}

interface Told {
  readonly call: UpstreamCall;
  readonly delta: Delta;
}

/** Whoever offers a tool and has not used it for these words yet is told to; else it is done. */
function toDelta({ messages, tools = [] }: Asked, mark: string, padding: number): Delta {
  const [tool] = tools;
  if (!tool || messages.at(-1)?.role === 'tool') {
    return { content: `done #${mark}#${'.'.repeat(padding)}` };
  }
  const { name } = tool.function;
  const call = { name, arguments: JSON.stringify({ mark }) };
  return { tool_calls: [{ index: 0, id: `call_${mark}`, type: 'function', function: call }] };
}

/** As the tokenizers of most models do on average. */
const tokensIn = (text: string): number => Math.ceil(text.length / 4);

const finishOf = ({ tool_calls }: Delta): string => (tool_calls ? 'tool_calls' : 'stop');

const usageOf = ({ input, output }: UpstreamCall) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

const head = (object: string, { mark, model }: UpstreamCall) => ({
  id: `chatcmpl-${mark}`,
  object,
  created: 1,
  model,
});

function whole(call: UpstreamCall, delta: Delta): string {
  const message = { role: 'assistant', content: null, ...delta };
  return JSON.stringify({
    ...head('chat.completion', call),
    choices: [{ index: 0, message, finish_reason: finishOf(delta) }],
    usage: usageOf(call),
  });
}

async function stream(response: ServerResponse, asked: Asked, { call, delta }: Told) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const common = head('chat.completion.chunk', call);
  const say = (piece: object): Promise<void> => {
    response.write(`data: ${JSON.stringify({ ...common, ...piece })}\n\n`);
    return sleep(PIECE_MS);
  };
  const choice = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  await say(choice({ role: 'assistant', content: '' }));
  await say(choice(delta));
  await say(choice({}, finishOf(delta)));
  if (asked.stream_options?.include_usage) await say({ choices: [], usage: usageOf(call) });
  response.end('data: [DONE]\n\n');
}

async function readJson(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Asked;
}
