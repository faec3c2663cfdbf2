import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { COMPLETION, customProvider, orderedModel } from '../../support/chat.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { verifies } from '../../requirements.ts';

const BODIES = 50;
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
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, waiting };
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

/** Bytes that the process holds when its garbage is collected, and bytes of memory that it has. */
async function look({ child }: TestGateway, file: string) {
  await rm(file, { force: true });
  child?.kill('SIGUSR2');
  const report = await eventually(() => readFile(file, 'utf8').catch(() => undefined));
  const { held } = JSON.parse(report) as { held: number };
  const status = await readFile(`/proc/${child?.pid}/status`, 'utf8');
  const kib = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]);
  return { held, resident: kib('RssAnon') * 1024, peak: kib('VmHWM') * 1024 };
}

/** Most bytes of memory per byte of a body, by model. */
const ROWS = [
  // The second provider may have to be asked, so the bodies are kept.
  ['acme/kept', ['one', 'two'], 1.2],
  // Nobody can be asked after the one, so they are let go of.
  ['acme/single', ['one'], 0.2],
] as const;

it.each(ROWS)(
  verifies(
    'limits.body-memory.one-copy',
    'holds one copy of each of 50 bodies of 10 MB while the providers work: %s',
  ),
  async (model, providers, most) => {
    const provider = await startProvider();
    const directory = await newDirectory();
    const file = join(directory, 'probe.json');
    const gateway = await startGateway(
      {
        server: { limits: { body_memory: '600MiB', request_timeout: '5m' } },
        providers: providers.map((name) => customProvider(name, provider.url)),
        models: [orderedModel(model, providers)],
      },
      { binary: true, directory, env: { NODE_OPTIONS: `--import=${PROBE}`, PROBE_FILE: file } },
    );
    onTestFinished(async () => {
      await gateway.stop();
      await rm(directory, { recursive: true, force: true });
    });
    const content = 'x'.repeat(BYTES - 100);
    const body = Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content }] }));
    const before = await look(gateway, file);
    const calls = Array.from({ length: BODIES }, () => post(gateway, body));
    await eventually(() => provider.waiting.length === BODIES, 240_000);
    const after = await look(gateway, file);
    for (const response of provider.waiting)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(COMPLETION));
    expect(new Set(await Promise.all(calls))).toEqual(new Set([200]));
    const perByte = (name: keyof typeof after) =>
      (after[name] - before[name]) / (BODIES * body.length);
    console.info(
      `${model}: held ${perByte('held').toFixed(2)}, resident ${perByte('resident').toFixed(2)}, peak ${perByte('peak').toFixed(2)}`,
    );
    expect(perByte('held')).toBeLessThan(most);
  },
  300_000,
);
