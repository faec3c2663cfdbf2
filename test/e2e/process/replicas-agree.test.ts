import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { findProgram } from '../../store/support/database-server.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { openRaw } from '../../support/raw-client.ts';
import { shareDatabase, type SharedDatabase } from '../../support/servers/share-database.ts';
import { startStoreLine } from '../../support/stage/store-line.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const BACKENDS = [
  { driver: 'redis', program: 'redis-server' },
  { driver: 'postgres', program: 'postgres' },
].map((backend) => ({ ...backend, path: findProgram(backend.program) }));

const MASTER = 'a-master-key-of-32-characters-00';
const SOON_MS = 10_000;

/** A provider that has had enough, and how often it was asked. */
async function startBusyProvider(): Promise<{ url: string; asked: () => number }> {
  let asked = 0;
  const server = createServer((incoming, outgoing) => {
    asked++;
    incoming.resume();
    outgoing.writeHead(429, { 'retry-after': '120', 'content-type': 'application/json' });
    outgoing.end('{"error":{"message":"slow down"}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, asked: () => asked };
}

describe.each(inTurn('two nodes', BACKENDS))('two nodes on $driver', ({ driver, path }) => {
  let server: SharedDatabase;
  beforeEach(async () => {
    if (path !== undefined) server = await shareDatabase(driver);
  });

  /** The second one reaches the store over `url`. */
  async function nodes(parts: object, url = server.url): Promise<[TestGateway, TestGateway]> {
    const directory = await directoryOfTest();
    const open = async (at: string): Promise<TestGateway> => {
      const store = { driver, options: { ...server.options, url: at } };
      const secrets = { master_key: '${secret:env:MASTER}' };
      const config = { server: { store, secrets }, ...parts };
      const gateway = await startGateway(config, { env: { MASTER }, directory });
      onTestFinished(async () => void (await gateway.stop()));
      return gateway;
    };
    return [await open(server.url), await open(url)];
  }

  it.skipIf(path === undefined)(
    verifies('store.multi-node', 'leave alone what a provider refused to one of them'),
    async () => {
      const busy = await startBusyProvider();
      const [first, second] = await nodes({
        providers: [
          { name: 'busy', type: 'openai', base_url: busy.url, api_key: '${secret:env:MASTER}' },
          { name: 'mock', type: 'mock' },
        ],
        models: [
          {
            name: 'acme/one',
            routes: [
              { provider: 'busy', upstream_model: 'm', priority: 0 },
              { provider: 'mock', priority: 1 },
            ],
          },
        ],
      });
      const key = first.clientKey;
      expect((await first.chat('acme/one', { key })).status).toBe(200);
      expect(busy.asked()).toBe(1);
      await eventually(async () => {
        const { body } = await second.admin('GET', '/admin/v1/routing?model=acme/one');
        return JSON.stringify(body).includes('"state":"cooled"');
      }, SOON_MS);
      for (let calls = 0; calls < 3; calls++)
        expect((await second.chat('acme/one', { key })).status).toBe(200);
      expect(busy.asked()).toBe(1);
    },
  );

  it.skipIf(path === undefined)(
    verifies('store.multi-node', 'count the requests of a key that are under way together'),
    async () => {
      const reply = { text: 'a '.repeat(30), chunks: 30, chunk_delay_ms: 500 };
      const [first, second] = await nodes({
        providers: [{ name: 'mock', type: 'mock', mock: { rules: [{ reply }] } }],
        models: [{ name: 'acme/slow', routes: [{ provider: 'mock' }] }],
      });
      const capped = { name: 'capped', concurrency_cap: 1 };
      const { value: key } = (await first.admin('POST', '/admin/v1/keys', capped)).body;
      const messages = [{ role: 'user', content: 'hi' }];
      const stream = await openRaw(`${first.url}/v1/chat/completions`, {
        key,
        body: JSON.stringify({ model: 'acme/slow', stream: true, messages }),
      });
      expect(stream.status).toBe(200);
      const refused = await second.chat('acme/slow', { key });
      expect([refused.status, refused.body.error]).toEqual([
        429,
        'API key concurrency limit exceeded',
      ]);
      stream.destroy();
      await eventually(
        async () => (await second.call('GET', '/v1/models', { key })).status === 200,
      );
    },
  );

  it.skipIf(path === undefined)(
    verifies('store.multi-node', 'see changes of each other again after a lost connection'),
    async () => {
      const line = await startStoreLine(server.url);
      // First of all that is undone last: the gateways stop before it.
      onTestFinished(() => line.close());
      const [first, second] = await nodes(
        {
          providers: [{ name: 'mock', type: 'mock' }],
          models: [{ name: 'acme/one', routes: [{ provider: 'mock' }] }],
        },
        line.url,
      );
      const made = await first.admin('POST', '/admin/v1/keys', { name: 'k' });
      const { id, value: key } = made.body;
      const answers = (status: number, model = 'acme/one') =>
        eventually(async () => (await second.chat(model, { key })).status === status, SOON_MS);
      await answers(200);
      line.cut();
      const model = { name: 'acme/two', routes: [{ provider: 'mock' }] };
      expect((await first.admin('POST', '/admin/v1/models', model)).status).toBe(201);
      line.mend();
      await answers(200, 'acme/two');
      await first.admin('POST', `/admin/v1/keys/${id}/revoke`);
      await answers(401);
    },
  );
});
