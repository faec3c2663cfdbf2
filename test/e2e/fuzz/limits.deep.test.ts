import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ROWS } from '../../protocols/translation-rows.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw, openRaw } from '../../support/raw-client.ts';
import type { RawAnswer } from '../../support/raw-client.ts';
import { expectCleanLog, expectFamilyAnswer, expectSettled, FAMILY_ROWS } from './families.ts';
import { startHostileUpstream } from './hostile-upstream.ts';
import type { HostileUpstream } from './hostile-upstream.ts';

const TOTAL_MS = 800;
const MAX_FRAME = 16 * 1024 * 1024;
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n';
const BLOCK = Buffer.alloc(64 * 1024, 'x');

let upstream: HostileUpstream;
let gateway: TestGateway;
/** Bytes that the provider got rid of in each of the calls that are under way. */
let sent: { bytes: number }[] = [];

const STREAMED = FAMILY_ROWS.filter(({ stream }) => stream);
/** Every client beside the providers of its own protocol and of those that it is translated to. */
const PAIRS = STREAMED.flatMap((client) => {
  const isTranslated = ROWS.some(({ id }) => id === client.protocol);
  const others = isTranslated ? ROWS.filter(({ id }) => id !== client.protocol) : [];
  const providers = [client.protocol, ...others.map(({ id }) => id)];
  return providers.map((provider) => ({ client, provider }));
});
type Pair = (typeof PAIRS)[number];
/** Each provider with the client of its own protocol and one of another. */
const PROVIDERS = STREAMED.map(({ protocol }, index) => {
  const pairs = PAIRS.filter(({ provider }) => provider === protocol);
  const isOwn = ({ client }: Pair): boolean => client.protocol === protocol;
  const others = pairs.filter((pair) => !isOwn(pair));
  const at = index % 3;
  return [protocol, [...pairs.filter(isOwn), ...others.slice(at, at + 1)]] as const;
});

beforeAll(async () => {
  upstream = await startHostileUpstream();
  gateway = await startGateway({
    server: { timeouts: { first_content: `${TOTAL_MS}ms`, idle: '250ms', total: `${TOTAL_MS}ms` } },
    providers: STREAMED.map(({ protocol, upstreamPath: path }) => ({
      name: protocol,
      type: 'custom',
      base_url: `${upstream.url}/${protocol}`,
      auth: { type: 'none' },
      protocols: { [protocol]: { path } },
    })),
    models: STREAMED.flatMap(({ protocol: provider }) => {
      const routes = [{ provider, upstream_model: 'up', mapping: 'translated', pricing: 'free' }];
      const timeouts = { first_content: '20s', idle: '20s', total: '20s' };
      return [
        { name: `to/${provider}`, routes },
        { name: `patient/${provider}`, routes, timeouts },
      ];
    }),
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

/** Writes as fast as the gateway reads, until it closes. */
function pour(socket: Socket, begin: string, block: Buffer): void {
  const counter = { bytes: 0 };
  sent.push(counter);
  socket.write(HEAD + begin);
  const more = (): void => {
    while (!socket.destroyed && socket.write(block)) counter.bytes += block.length;
  };
  socket.on('drain', () => setImmediate(more));
  more();
}

/** An event that shows something, in the protocol of a provider. */
const CONTENT: Readonly<Record<string, string>> = {
  chat: 'data: {"id":"c","choices":[{"index":0,"delta":{"content":"x"}}]}\n\n',
  messages:
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}\n\n',
  responses:
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","output_index":0,"content_index":0,"item_id":"m","delta":"x"}\n\n',
  'generate-content':
    'data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"x"}]}}]}\n\n',
  interactions:
    'event: step.delta\ndata: {"event_type":"step.delta","index":0,"delta":{"type":"text","text":"x"}}\n\n',
};
const OPENING: Readonly<Record<string, string>> = {
  messages:
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"up","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\n' +
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
  responses:
    'event: response.created\ndata: {"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}\n\n' +
    'event: response.output_item.added\ndata: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","role":"assistant","status":"in_progress","content":[]}}\n\n' +
    'event: response.content_part.added\ndata: {"type":"response.content_part.added","output_index":0,"content_index":0,"item_id":"m","part":{"type":"output_text","text":"","annotations":[]}}\n\n',
  interactions:
    'event: interaction.created\ndata: {"event_type":"interaction.created","interaction":{"id":"i","object":"interaction","status":"in_progress"}}\n\n' +
    'event: step.start\ndata: {"event_type":"step.start","index":0,"step":{"type":"model_output"}}\n\n',
};

const openingOf = (provider: string): string => `${OPENING[provider] ?? ''}${CONTENT[provider]}`;
const mostSent = (): number => Math.max(...sent.map(({ bytes }) => bytes));
const allSent = (): number => sent.reduce((sum, { bytes }) => sum + bytes, 0);

function requestOf({ client, provider }: Pair, kind: string) {
  const model = `${kind}/${provider}`;
  const headers = { ...client.carriers[0]?.(gateway.clientKey).headers };
  return [
    gateway.url + client.path(model, true),
    { headers, body: client.body(model, true) },
  ] as const;
}

async function expectInterrupted(pair: Pair, kind: string): Promise<RawAnswer> {
  const answer = await askRaw(...requestOf(pair, kind));
  const shown = `${pair.client.protocol} from ${pair.provider}`;
  expect(expectFamilyAnswer(pair.client, answer), shown).toBe('error');
  expect(await expectSettled(gateway, answer), shown).toBe('interrupted');
  return answer;
}

describe('streams of every provider to every client', () => {
  beforeEach(() => (sent = []));

  // Of one provider at a time, so that the bounds add up to little.
  it.each(PROVIDERS)(
    'end where one event of %s never ends, which is held in part',
    async (from, pairs) => {
      upstream.play((socket) => pour(socket, `${openingOf(from)}data: {"x":"`, BLOCK));
      // Its size ends it, not its time.
      const answers = await Promise.all(pairs.map((pair) => expectInterrupted(pair, 'patient')));
      for (const { body } of answers) expect(body.length).toBeLessThan(64 * 1024);
      expect(mostSent()).toBeLessThan(2 * MAX_FRAME);
      await eventually(() => upstream.connections() === 0);
      expectCleanLog(gateway);
    },
  );

  it.each([': busy\n\n', 'data: {}\n\n'])('end in time where %j comes for ever', async (noise) => {
    const block = Buffer.from(noise.repeat(4));
    upstream.play((socket, path) => {
      const [, provider = ''] = path.split('/');
      socket.write(HEAD + openingOf(provider));
      const timer = setInterval(() => socket.write(block), 20);
      socket.on('close', () => clearInterval(timer));
    });
    await Promise.all(PAIRS.map((pair) => expectInterrupted(pair, 'to')));
  });

  it.each(PROVIDERS)(
    'of %s are read no faster than their clients take them',
    async (from, pairs) => {
      const block = Buffer.from((CONTENT[from] ?? '').repeat(400));
      upstream.play((socket) => pour(socket, openingOf(from), block));
      const streams = await Promise.all(
        pairs.map(async (pair) => {
          const stream = await openRaw(...requestOf(pair, 'patient'));
          stream.response.pause();
          return stream;
        }),
      );
      let [last, since] = [-1, 0];
      await eventually(() => {
        if (allSent() !== last) [last, since] = [allSent(), performance.now()];
        return last > 0 && performance.now() - since > 250;
      });
      // What the buffers of four sockets take, and nothing that grows.
      expect(mostSent()).toBeLessThan(24 * 1024 * 1024);
      expect(upstream.connections()).toBe(pairs.length);
      for (const stream of streams) stream.destroy();
      await eventually(() => upstream.connections() === 0);
    },
  );
});
