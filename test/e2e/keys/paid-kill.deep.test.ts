import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFastTime } from '../../chaos/fast-time.ts';
import { verifies } from '../../requirements.ts';
import { chunk } from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const PRICE = 0.01;
const LIMIT = 0.3;
const MODES = ['auto', 'before_call', 'during_call'];
const AT_ONCE = 4;
/** How many times as fast as that of the machine the time of the gateways of a long stream is. */
const RATE = 4;
/** A stream that nobody sees the end of, and enough of it for its cost so far to have been stored. */
const PIECE_MS = 250 / RATE;
const LONG_PIECES = 1_000;
const SEEN_PIECES = 24;
const LONG = { timeout: 300_000 };
const WORDS = 'word '.repeat(80);

const configOf = (upstream: string, ledger: string) => ({
  server: { store: { driver: 'lmdb' }, ledger },
  providers: [
    {
      name: 'up',
      type: 'custom',
      base_url: `${upstream}/v1`,
      auth: { type: 'none' },
      protocols: { chat: true },
    },
  ],
  models: [
    {
      name: 'acme/flat',
      routes: [{ provider: 'up', upstream_model: 'flat', pricing: { per_call: String(PRICE) } }],
    },
    {
      name: 'acme/tokens',
      routes: [{ provider: 'up', upstream_model: 'tokens', pricing: { input: '1', output: '2' } }],
    },
  ],
});

/** A provider that counts its answers; those to `tokens` are slow streams. */
async function startProvider() {
  const answered: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const asked = JSON.parse(await text(request)) as { model: string; stream?: boolean };
      response.on('finish', () => void answered.push(asked.model));
      if (asked.model === 'tokens') return sendSlowly(response);
      if (asked.stream !== true) {
        response.setHeader('content-type', 'application/json');
        const message = { role: 'assistant', content: 'hi' };
        const choices = [{ index: 0, message, finish_reason: 'stop' }];
        return void response.end(JSON.stringify({ object: 'chat.completion', choices }));
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${chunk({ content: 'hi' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
    })().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, answered, close };

  async function sendSlowly(response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let piece = 0; piece < LONG_PIECES && !response.destroyed; piece++) {
      response.write(chunk({ content: WORDS }));
      await pause(PIECE_MS);
    }
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  }
}

async function killed({ child }: TestGateway): Promise<void> {
  const exit = once(child!, 'exit');
  child!.kill('SIGKILL');
  await exit;
}

async function createKey(
  gateway: TestGateway,
  name: string,
  extra: object = {},
): Promise<{ id: string; value: string }> {
  return (await gateway.admin('POST', '/admin/v1/keys', { name, ...extra })).body;
}

/** Calls at once, and SIGKILL when the first has its answer; gives the ids of those that are whole. */
async function callAndKill(gateway: TestGateway, key: string): Promise<string[]> {
  const whole: string[] = [];
  let kill: Promise<void> | undefined;
  const call = async (index: number): Promise<void> => {
    const stream = index % 2 === 1;
    const { status, headers, body } = await gateway.chat('acme/flat', { key, body: { stream } });
    if (status !== 200 || (stream && !String(body).includes('[DONE]'))) return;
    whole.push(headers.get('x-request-id') ?? '');
    kill ??= killed(gateway);
  };
  const calls = Array.from({ length: AT_ONCE }, (_, index) => call(index).catch(() => undefined));
  await Promise.all(calls);
  await (kill ?? killed(gateway));
  return whole;
}

async function recordsOf(gateway: TestGateway, key: string): Promise<any[]> {
  return (await gateway.admin('GET', `/admin/v1/requests?limit=500&key=${key}`)).body.data;
}

const sumOf = (records: any[]): number => records.reduce((sum, { cost }) => sum + Number(cost), 0);

describe('kill -9 the moment an answer is there', () => {
  it(
    verifies(
      'store.ledger.durable-before-last-byte',
      'usage.interrupted-counted',
      'leaves its cost in the ledger in every mode, so that no limit is spent twice',
    ),
    LONG,
    async () => {
      const directory = await directoryOfTest();
      const provider = await startProvider();
      onTestFinished(() => provider.close());
      const open = (mode: string, binary: boolean) =>
        startGateway(configOf(provider.url, mode), { binary, directory });
      const whole: string[] = [];
      let key: { id: string; value: string } | undefined;
      for (const mode of MODES) {
        const gateway = await open(mode, true);
        key ??= await createKey(gateway, 'paid', { spending_limit: { lifetime: LIMIT } });
        whole.push(...(await callAndKill(gateway, key.value)));
      }
      expect(whole.length).toBeGreaterThanOrEqual(MODES.length);

      const last = await open('auto', false);
      onTestFinished(async () => void (await last.stop()));
      const { id, value } = key!;
      const records = await eventually(async () => {
        const found = await recordsOf(last, id);
        return found.every(({ result }) => result !== 'pending') && found;
      });
      const byId = new Map(records.map((record) => [record.id, record]));
      for (const one of whole)
        expect(byId.get(one)).toMatchObject({ result: 'ok', cost: String(PRICE) });
      expect(sumOf(records)).toBeGreaterThanOrEqual(provider.answered.length * PRICE - 1e-9);

      while ((await last.chat('acme/flat', { key: value })).status === 200);
      const after = (await recordsOf(last, id)).filter(({ status }) => status !== 402);
      expect(sumOf(after)).toBeCloseTo(LIMIT, 9);
      expect(provider.answered.length).toBeLessThanOrEqual(Math.round(LIMIT / PRICE));
      const usage = await last.admin('GET', '/admin/v1/usage?group_by=key');
      const row = usage.body.data.find((one: any) => one.key === id);
      expect(row.requests).toBe(after.length);
      expect(Number(row.cost)).toBeCloseTo(sumOf(after), 9);
    },
  );

  it(
    verifies(
      'store.ledger.interrupted-charged',
      'store.ledger.open-call-estimated',
      'charges a stream that was under way for its prompt and what was sent of it',
    ),
    LONG,
    async () => {
      const directory = await directoryOfTest();
      const provider = await startProvider();
      onTestFinished(() => provider.close());
      const config = configOf(provider.url, 'auto');
      const { environment: env, clock } = createFastTime(RATE);
      const first = await startGateway(config, { binary: true, directory, env });
      onTestFinished(() => void first.child!.kill('SIGKILL'));
      const free = await createKey(first, 'free');
      const paid = await createKey(first, 'paid', { spending_limit: { lifetime: LIMIT } });
      const ids: string[] = [];
      const seen = [0, 0];
      const streams = [free, paid].map(async ({ value }, index) => {
        const response = await fetch(`${first.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${value}`, 'content-type': 'application/json' },
          body: JSON.stringify({
            model: 'acme/tokens',
            stream: true,
            max_tokens: 10_000,
            messages: [{ role: 'user', content: 'hello' }],
          }),
        });
        ids[index] = response.headers.get('x-request-id') ?? '';
        for await (const piece of response.body!)
          seen[index]! += Buffer.from(piece).toString().split('data: ').length - 1;
      });
      const ended = Promise.allSettled(streams);
      await eventually(() => seen.every((pieces) => pieces >= SEEN_PIECES));
      await killed(first);
      await ended;

      const second = await startGateway(config, { directory, clock });
      onTestFinished(async () => void (await second.stop()));
      for (const id of ids) {
        const record = await eventually(async () => {
          const { body } = await second.admin('GET', `/admin/v1/requests/${id}`);
          return body.result === 'interrupted' && body;
        });
        const { usage, cost } = record;
        expect(record).toMatchObject({ error_code: 'worker_lost', estimated: true });
        expect(usage.input_tokens).toBeGreaterThan(20);
        expect(usage.output_tokens).toBeGreaterThanOrEqual(WORDS.length / 4);
        expect(usage.output_tokens).toBeLessThanOrEqual(
          (WORDS.length * (Math.max(...seen) + 8)) / 4,
        );
        expect(Number(cost)).toBeCloseTo((usage.input_tokens + 2 * usage.output_tokens) / 1e6, 9);
      }
      const usage = await second.admin('GET', '/admin/v1/usage?group_by=key');
      for (const { id } of [free, paid]) {
        const own = await recordsOf(second, id);
        const row = usage.body.data.find((one: any) => one.key === id);
        expect(row).toMatchObject({ requests: own.length, estimated: 1 });
        expect(Number(row.cost)).toBeCloseTo(sumOf(own), 9);
      }
    },
  );
});
