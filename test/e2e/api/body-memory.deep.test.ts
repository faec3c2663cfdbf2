import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { COMPLETION, customProvider, orderedModel } from '../../support/chat.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { verifies } from '../../requirements.ts';
import { IS_ALL } from '../../runs.ts';

const BYTES = 10 * 1024 * 1024;
const PROBE = fileURLToPath(new URL('../memory/process-probe.js', import.meta.url));

/** A provider that takes requests, keeps nothing of them, and waits with its answers. */
async function startProvider() {
  const waiting: ServerResponse[] = [];
  const server = createServer((incoming, response) => {
    incoming.resume();
    incoming.once('end', () => waiting.push(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    waiting,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function post({ url, clientKey }: TestGateway, body: Buffer): Promise<number> {
  const sent = request(`${url}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${clientKey}`, 'content-length': body.length },
  });
  sent.on('error', () => undefined);
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return answer.statusCode ?? 0;
}

/** Bytes that the process holds when its garbage is collected. */
async function look({ child }: TestGateway, file: string): Promise<number> {
  await rm(file, { force: true });
  child?.kill('SIGUSR2');
  const report = await eventually(() => readFile(file, 'utf8').catch(() => undefined));
  return (JSON.parse(report) as { held: number }).held;
}

/** Most bytes of memory per byte of so many bodies, by model. */
const ROWS = [
  // The second provider may have to be asked, so the bodies are kept.
  { bodies: IS_ALL ? 50 : 12, model: 'acme/kept', providers: ['one', 'two'], most: 1.2 },
  // No other can be asked after the one, so they are freed.
  { bodies: IS_ALL ? 15 : 8, model: 'acme/single', providers: ['one'], most: 0.2 },
];

let provider: Awaited<ReturnType<typeof startProvider>>;
let gateway: TestGateway;
let directory: string;
let file: string;
beforeAll(async () => {
  provider = await startProvider();
  directory = await newDirectory();
  file = join(directory, 'probe.json');
  gateway = await startGateway(
    {
      server: { limits: { body_memory: '600MiB', request_timeout: '5m' } },
      providers: ['one', 'two'].map((name) => customProvider(name, provider.url)),
      models: ROWS.map(({ model, providers }) => orderedModel(model, providers)),
    },
    { binary: true, directory, env: { NODE_OPTIONS: `--import=${PROBE}`, PROBE_FILE: file } },
  );
});
afterAll(async () => {
  await gateway.stop();
  provider.close();
  await rm(directory, { recursive: true, force: true });
});

it.each(ROWS)(
  verifies(
    'limits.body-memory.one-copy',
    'holds one copy of each of $bodies bodies of 10 MB while the providers work: $model',
  ),
  async ({ bodies, model, most }) => {
    const content = 'x'.repeat(BYTES - 100);
    const body = Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content }] }));
    const before = await look(gateway, file);
    const calls = Array.from({ length: bodies }, () => post(gateway, body));
    await eventually(() => provider.waiting.length === bodies, 240_000);
    const after = await look(gateway, file);
    for (const response of provider.waiting.splice(0))
      response.setHeader('content-type', 'application/json').end(JSON.stringify(COMPLETION));
    expect(new Set(await Promise.all(calls))).toEqual(new Set([200]));
    expect((after - before) / (bodies * body.length)).toBeLessThan(most);
  },
  300_000,
);
