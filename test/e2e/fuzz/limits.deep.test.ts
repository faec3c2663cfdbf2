import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROWS } from '../../protocols/translation-rows.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw, openRaw } from '../../support/raw-client.ts';
import { expectCleanLog, expectFamilyAnswer, expectSettled, FAMILY_ROWS } from './families.ts';
import { startHostileUpstream } from './hostile-upstream.ts';
import type { HostileUpstream } from './hostile-upstream.ts';

const TOTAL_MS = 800;
const MAX_FRAME = 16 * 1024 * 1024;
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n';
const BLOCK = Buffer.alloc(64 * 1024, 'x');

let upstream: HostileUpstream;
let gateway: TestGateway;
/** Bytes that the provider got rid of in the current call. */
let sent = 0;

const STREAMED = FAMILY_ROWS.filter(({ stream }) => stream);
const PAIRS = STREAMED.flatMap((client) => {
  const isTranslated = ROWS.some(({ id }) => id === client.protocol);
  const others = isTranslated ? ROWS.filter(({ id }) => id !== client.protocol) : [];
  return [client.protocol, ...others.map(({ id }) => id)].map(
    (provider) => [`${client.protocol} from ${provider}`, client, provider] as const,
  );
});

beforeAll(async () => {
  upstream = await startHostileUpstream();
  gateway = await startGateway({
    server: { timeouts: { first_content: `${TOTAL_MS}ms`, idle: '250ms', total: `${TOTAL_MS}ms` } },
    providers: STREAMED.map(({ protocol, upstreamPath: path }) => ({
      name: protocol,
      type: 'custom',
      base_url: upstream.url,
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
function pour(opening: string, block: Buffer) {
  return (socket: Socket): void => {
    sent = 0;
    socket.write(HEAD + opening);
    const more = (): void => {
      while (!socket.destroyed && socket.write(block)) sent += block.length;
    };
    socket.on('drain', () => setImmediate(more));
    more();
  };
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

describe.each(PAIRS)('%s', (_title, client, provider) => {
  const request = (kind = 'to') => {
    const model = `${kind}/${provider}`;
    const headers = { ...client.carriers[0]?.(gateway.clientKey).headers };
    const url = gateway.url + client.path(model, true);
    return [url, { headers, body: client.body(model, true) }] as const;
  };
  const opening = (OPENING[provider] ?? '') + CONTENT[provider];

  it('ends a stream whose one event never ends, holding a bounded part of it', async () => {
    upstream.play(pour(`${opening}data: {"x":"`, BLOCK));
    // Its size ends it, not its time.
    const answer = await askRaw(...request('patient'));
    expect(expectFamilyAnswer(client, answer)).toBe('error');
    expect(answer.body.length).toBeLessThan(64 * 1024);
    expect(sent).toBeLessThan(2 * MAX_FRAME);
    expect(await expectSettled(gateway, answer)).toBe('interrupted');
    await eventually(() => upstream.connections() === 0);
    expectCleanLog(gateway);
  });

  it('ends a stream that goes on for ever without saying anything', async () => {
    for (const noise of [': busy\n\n', 'data: {}\n\n']) {
      const block = Buffer.from(noise.repeat(4));
      upstream.play((socket) => {
        socket.write(HEAD + opening);
        const timer = setInterval(() => socket.write(block), 20);
        socket.on('close', () => clearInterval(timer));
      });
      const answer = await askRaw(...request());
      expect(expectFamilyAnswer(client, answer)).toBe('error');
      expect(await expectSettled(gateway, answer)).toBe('interrupted');
    }
  });

  it('takes no more from a provider than its client takes', async () => {
    upstream.play(pour(opening, Buffer.from((CONTENT[provider] ?? '').repeat(400))));
    const stream = await openRaw(...request('patient'));
    stream.response.pause();
    let [last, since] = [-1, 0];
    await eventually(() => {
      if (sent !== last) [last, since] = [sent, performance.now()];
      return sent > 0 && performance.now() - since > 250;
    });
    // What the buffers of four sockets take, and nothing that grows.
    expect(sent).toBeLessThan(24 * 1024 * 1024);
    expect(upstream.connections()).toBe(1);
    stream.destroy();
    await eventually(() => upstream.connections() === 0);
  });
});
