import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseObjectKeepingDigits } from '../../../src/core/json/digits.ts';
import { stringifyWithRaw } from '../../../src/core/json/raw.ts';
import { createSealer } from '../../../src/core/seal.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createKnownServers } from '../../../src/runtime/tools/known-servers.ts';
import { createMcpToolServer } from '../../../src/runtime/tools/mcp-tool-server.ts';
import { HttpTransport } from '../../../src/runtime/tools/http-transport.ts';
import { StdioTransport } from '../../../src/runtime/tools/stdio-transport.ts';
import { withStructuredTexts } from '../../../src/runtime/tools/structured-text.ts';
import type { ToolTransport } from '../../../src/runtime/tools/tool-transport.ts';
import { createUrlGuard } from '../../../src/upstream/guard/url-guard.ts';
import { verifies } from '../../requirements.ts';

const TEXT = '{"id":2512292042121000001,"n":[1.0,1e2,-0]}';
const { signal } = new AbortController();

type Generation = 'old' | 'new';
const RESULTS: Readonly<Record<Generation, Readonly<Record<string, string>>>> = {
  old: {
    initialize:
      '{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"a","version":"1"}}',
  },
  new: {
    'server/discover':
      '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}',
  },
};

/** The answer to a message as its text; undefined for one that has none. */
function answerTo(generation: Generation, text: string): string | undefined {
  const { id, method } = JSON.parse(text) as { id?: number | string; method: string };
  if (id === undefined) return undefined;
  const type = generation === 'new' ? '"resultType":"complete",' : '';
  const result =
    RESULTS[generation][method] ??
    `{${type}"content":[],"structuredContent":${TEXT},"isError":false}`;
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** Calls a tool with the text as its arguments. */
async function call(connect: () => Promise<ToolTransport>) {
  const known = createKnownServers(systemClock)('');
  const sealer = createSealer([Buffer.alloc(32, 7)]);
  const options = { connect, known, clock: systemClock, secrets: [], version: '1' };
  const server = createMcpToolServer({ ...options, sealer, place: 'shop' });
  onTestFinished(() => server.close());
  return server.call('find', parseObjectKeepingDigits(TEXT) ?? {}, signal);
}

/** A server over HTTP; the bodies that it is sent gather in `bodies`. */
async function serve(form: 'json' | 'sse', generation: Generation, bodies: string[]) {
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      if (request.method !== 'POST') return response.writeHead(405).end();
      bodies.push(body);
      const answer = answerTo(generation, body);
      if (answer === undefined) return response.writeHead(202).end();
      if (form === 'json') {
        response.writeHead(200, { 'content-type': 'application/json' });
        return response.end(answer.replaceAll(',', ',\n'));
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end(`: hello\r\nevent: message\r\ndata: ${answer}\r\n\r\n`);
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => void http.close());
  const { port } = http.address() as AddressInfo;
  const guard = createUrlGuard({ allow: [`127.0.0.1:${port}`] });
  onTestFinished(() => guard.close());
  const options = { guard, headers: {}, clock: systemClock, maxBytes: 1_000_000 };
  return new HttpTransport(new URL(`http://127.0.0.1:${port}/mcp`), options);
}

/** A process that is none; what it is sent gathers in `bodies`. */
function run(generation: Generation, bodies: string[]): ToolTransport {
  const answers: string[] = [];
  let wake = (): void => undefined;
  async function* lines(): AsyncGenerator<string> {
    for (;;) {
      const answer = answers.shift();
      if (answer === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else yield answer;
    }
  }
  return new StdioTransport(async () => ({
    lines: lines(),
    async send(value) {
      const text = stringifyWithRaw(value);
      bodies.push(text);
      answers.push(answerTo(generation, text) ?? '');
      wake();
    },
    async end() {},
    exited: new Promise(() => undefined),
  }));
}

describe('digits of numbers towards a server of tools', () => {
  it.each(
    (['json', 'sse', 'stdio'] as const).flatMap((form) => [
      [form, 'old'] as const,
      [form, 'new'] as const,
    ]),
  )(
    verifies('numbers.kept', 'are kept in arguments and in structured results: %s, %s revision'),
    async (form, generation) => {
      const bodies: string[] = [];
      const transport =
        form === 'stdio' ? run(generation, bodies) : await serve(form, generation, bodies);
      const outcome = await call(async () => transport);
      expect(bodies.some((body) => body.includes('"initialize"'))).toBe(generation === 'old');
      expect(bodies.at(-1)).toContain(`"arguments":${TEXT}`);
      expect(outcome).toEqual({ content: [{ type: 'text', text: TEXT }], isError: false });
    },
  );
});

describe('structured results in the body of an answer', () => {
  const read = async (pieces: readonly string[], isStream: boolean): Promise<string[]> => {
    const given: string[] = [];
    const chunks = (async function* () {
      for (const piece of pieces) yield Buffer.from(piece);
    })();
    for await (const chunk of withStructuredTexts(chunks, isStream))
      given.push(Buffer.from(chunk).toString());
    return given;
  };
  const MESSAGE = '{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"n":1.0}}}';
  const REWRITTEN = MESSAGE.replace('{"n":1.0}', '"{\\"n\\":1.0}"');

  it('are texts, however their bytes arrive', async () => {
    const body = `data: {"a":"€"}\r\n\r\ndata: ${MESSAGE}\n\nid: 7\rdata: ${MESSAGE}`;
    for (let at = 0; at <= body.length; at++) {
      const given = await read([body.slice(0, at), body.slice(at)], true);
      expect(given.join('')).toBe(body.replaceAll(MESSAGE, REWRITTEN));
    }
  });

  it('are there as soon as their line is', async () => {
    expect((await read([`data: ${MESSAGE}\n`, '\n'], true))[0]).toBe(`data: ${REWRITTEN}\n`);
  });

  it.each([
    'data: {"structuredContent":{"n":1.0}\n',
    'data: {"result":{"tools":[{"inputSchema":{"properties":{"structuredContent":{"n":1}}}}]}}\n',
    'no JSON with "structuredContent"\n',
    '[]\n',
  ])('are looked for in results alone: %j', async (body) => {
    expect((await read([body], true)).join('')).toBe(body);
  });
});
