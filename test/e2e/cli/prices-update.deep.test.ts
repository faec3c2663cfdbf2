import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { findProgram } from '../../store/support/database-server.ts';
import { shareDatabase, type SharedDatabase } from '../../support/servers/share-database.ts';
import { adminEnv } from '../../support/binary.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

const redisProgram = findProgram('redis-server');
const MASTER = 'a-master-key-of-32-characters-00';
/** A node that is not told within this time would only find out by asking again. */
const SOON_MS = 5_000;

const listOf = (input_mtok: number): string =>
  JSON.stringify([
    {
      id: 'openai',
      name: 'OpenAI',
      models: [
        { id: 'gpt-5', match: { starts_with: 'gpt-5' }, prices: { input_mtok, output_mtok: 2 } },
      ],
    },
  ]);
const sumOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Notes each connection that a process opens. */
const recorderOf = (file: string): string => `import net from 'node:net';
import { appendFileSync } from 'node:fs';
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...words) {
  const [first] = Array.isArray(words[0]) ? words[0] : words;
  const { port, path } = typeof first === 'object' ? first : { port: first };
  appendFileSync(${JSON.stringify(file)}, String(port ?? path) + '\\n');
  return connect.apply(this, words);
};`;

let redis: SharedDatabase;
let vendor: Upstream;
/** Serves lists of prices to whoever asks. */
let publisher: Upstream;
let directory: string;
let opened: string;
let nodes: TestGateway[];
let clientKey: string;

async function startNode(): Promise<TestGateway> {
  const config = {
    server: {
      store: { driver: 'redis', options: redis.options },
      secrets: { master_key: '${secret:env:MASTER}' },
    },
    providers: [
      {
        name: 'openai',
        type: 'openai',
        base_url: `${vendor.url}/v1`,
        api_key: '${secret:env:MASTER}',
      },
    ],
    models: [
      { name: 'acme/listed', routes: [{ provider: 'openai', upstream_model: 'gpt-5' }] },
      {
        name: 'acme/said',
        routes: [{ provider: 'openai', upstream_model: 'gpt-5', pricing: { input: '7' } }],
      },
    ],
  };
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(recorderOf(opened))}`;
  return startGateway(config, { binary: true, directory, env: { MASTER, NODE_OPTIONS } });
}

beforeAll(async () => {
  if (redisProgram === undefined) return;
  redis = await shareDatabase('redis');
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };
  const message = { role: 'assistant', content: 'hi' };
  vendor = await startUpstream((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'c', choices: [{ index: 0, message }], usage }));
  });
  publisher = await startUpstream((response) => void response.end(listOf(30)));
  directory = await newDirectory();
  opened = join(directory, 'opened');
  const first = await startNode();
  ({ clientKey } = first);
  nodes = [first, await startNode()];
});
afterAll(async () => {
  for (const node of nodes ?? []) await node.stop();
  await vendor?.close();
  await publisher?.close();
  if (directory) await rm(directory, { recursive: true, force: true });
});

const prices = (words: string, node = nodes[0] as TestGateway) =>
  runCli(['prices', ...words.split(' '), '-o', 'json'], { cwd: directory, env: adminEnv(node) });

/** Dollars that a million tokens of input cost. */
async function costAt(node: TestGateway, model: string): Promise<string> {
  const { status, headers } = await node.chat(model, { key: clientKey });
  expect(status).toBe(200);
  return eventually(async () => {
    const id = headers.get('x-request-id');
    const { body } = await node.admin('GET', `/admin/v1/requests/${id}`);
    return body.result === 'ok' && body.cost;
  });
}

const costsOf = (model: string): Promise<string[]> =>
  Promise.all(nodes.map((node) => costAt(node, model)));

async function expectSoon(cost: string): Promise<void> {
  for (const node of nodes)
    await eventually(async () => (await costAt(node, 'acme/listed')) === cost, SOON_MS);
}

it.skipIf(redisProgram === undefined)(
  verifies(
    'pricing.update',
    'a list is taken by its checksum alone, from a file or a URL, and holds on every node and over restarts',
  ),
  async () => {
    expect(await costsOf('acme/listed')).toEqual(['1.25', '1.25']);
    expect((await prices('show')).json().data).toMatchObject({
      in_use: 'shipped',
      shipped_version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      sha256: null,
    });
    const own = listOf(3);
    await writeFile(join(directory, 'own.json'), own);
    const url = `${publisher.url}/data.json`;

    const unsure = await prices('update own.json');
    expect([unsure.code, unsure.stdout]).toEqual([64, expect.stringContaining(sumOf(own))]);
    const blind = await prices(`update ${url}`);
    expect([blind.code, blind.json().error.code]).toEqual([64, 'usage']);
    expect(publisher.seen).toEqual([]);
    for (const source of ['own.json', url]) {
      const wrong = await prices(`update ${source} --sha256 ${sumOf('another')}`);
      expect([wrong.code, wrong.json().error.code]).toEqual([1, 'checksum_mismatch']);
    }
    for (const words of ['update absent.json', 'update . --sha256 12'])
      expect((await prices(words)).code, words).toBe(64);
    expect((await prices('show')).json().data.in_use).toBe('shipped');
    expect(await costsOf('acme/listed')).toEqual(['1.25', '1.25']);

    const kept = await prices(`update own.json --sha256 ${sumOf(own).toUpperCase()}`);
    expect(kept.code, kept.stderr).toBe(0);
    expect(kept.json().data).toMatchObject({
      in_use: 'kept',
      sha256: sumOf(own),
      from: 'own.json',
      vendors: 1,
      models: 1,
    });
    expect(await costAt(nodes[0] as TestGateway, 'acme/listed')).toBe('3.00');
    await expectSoon('3.00');
    expect(await costsOf('acme/said')).toEqual(['7.00', '7.00']);

    const asked = publisher.seen.length;
    expect((await prices(`update ${url} --sha256 ${sumOf(listOf(30))}`, nodes[1])).code).toBe(0);
    expect(publisher.seen.length).toBe(asked + 1);
    await expectSoon('30.00');
    const shown = (await prices('show')).json().data;
    expect(shown).toMatchObject({ in_use: 'kept', sha256: sumOf(listOf(30)), from: url });
    expect(Date.parse(shown.kept_at)).toBeGreaterThan(Date.now() - 600_000);

    // Nodes have nothing in common but the store.
    const [first, second] = nodes as [TestGateway, TestGateway];
    await second.stop();
    nodes = [first, await startNode()];
    expect(await costsOf('acme/listed')).toEqual(['30.00', '30.00']);
    expect((await prices('show', nodes[1])).json().data).toEqual(shown);

    expect((await prices('reset')).json().data).toMatchObject({ in_use: 'shipped', from: null });
    await expectSoon('1.25');
    expect((await prices('reset')).code).toBe(0);

    // The command asked for each list once, and a node opens connections to the store and the vendor alone.
    expect(publisher.seen.length).toBe(asked + 1);
    const ports = new Set((await readFile(opened, 'utf8')).trim().split('\n'));
    expect(ports).toEqual(new Set([redis.url, vendor.url].map((one) => new URL(one).port)));
  },
);

it.skipIf(redisProgram === undefined)('each change of the list is in the audit log', async () => {
  const [node] = nodes as [TestGateway];
  const { body } = await node.admin('GET', '/admin/v1/audit?kind=price_list');
  const told = body.data.map((entry: { action: string; object: { name: string } }) => [
    entry.action,
    entry.object.name,
  ]);
  const url = `${publisher.url}/data.json`;
  expect(told).toEqual([
    ['delete', url],
    ['update', url],
    ['update', 'own.json'],
  ]);
  expect(body.data[1].changes).toContainEqual({
    path: 'sha256',
    old: sumOf(listOf(3)),
    new: sumOf(listOf(30)),
  });
});
