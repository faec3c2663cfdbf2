import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { ask, eventually, startGateway, writeConfig } from '../../support/gateway.ts';
import type { StartGatewayOptions, TestGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { gatewayOfTest } from '../../support/process/gateway-of-test.ts';
import { refusedStart } from '../../support/process/refused-start.ts';

const ECHO = {
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'acme/echo', routes: [{ provider: 'mock' }] }],
};

const STORE = { driver: 'lmdb' };

/** A gateway of this process, stopped at the end of the test. */
async function start(config: object, options: StartGatewayOptions): Promise<TestGateway> {
  const gateway = await startGateway(config, options);
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

describe('a stop', () => {
  const slow = (pieces: number, drain: string) => ({
    server: { drain, store: STORE },
    providers: [
      {
        name: 'mock',
        type: 'mock',
        mock: {
          rules: [{ reply: { text: 'x '.repeat(pieces), chunks: pieces, chunk_delay_ms: 50 } }],
        },
      },
    ],
    models: [{ name: 'acme/slow', routes: [{ provider: 'mock', pricing: { per_call: '0.15' } }] }],
  });

  /** Gives what comes of a stream that has begun. */
  async function openStream(gateway: TestGateway, key: string) {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'acme/slow',
        stream: true,
        messages: [{ role: 'user', content: 'go' }],
      }),
    });
    expect(response.status).toBe(200);
    return { rest: response.text(), id: response.headers.get('x-request-id') };
  }

  it(
    verifies('ops.shutdown.drain', 'takes no new connection and lets open streams end'),
    async () => {
      const gateway = await gatewayOfTest(slow(20, '30s'));
      const { rest } = await openStream(gateway, gateway.clientKey);
      const exit = once(gateway.child!, 'exit');
      gateway.child!.kill('SIGTERM');
      await eventually(() => gateway.log().includes('stopping'));
      await expect(ask(`${gateway.url}/healthz`)).rejects.toThrow('fetch failed');
      const text = await rest;
      expect(text.match(/"content":"x /g)).toHaveLength(20);
      expect(text).toMatch(/data: \[DONE\]\n\n$/);
      expect(await exit).toEqual([0, null]);
    },
  );

  it(
    verifies(
      'ops.shutdown.drain',
      'ends in-band what lasts longer than the drain time, and settles everything',
    ),
    async () => {
      const home = await directoryOfTest();
      const config = slow(1_000, '300ms');
      const gateway = await start(config, { directory: home });
      const made = await gateway.admin('POST', '/admin/v1/keys', {
        name: 'l',
        spending_limit: '9',
      });
      const { value } = made.body;
      await eventually(
        async () => (await gateway.call('GET', '/v1/models', { key: value })).status === 200,
      );
      const { rest, id } = await openStream(gateway, value);
      const stopped = gateway.stop();
      const text = await rest;
      expect(text).toMatch(/data: \{"error":\{[^\n]*shutting down[^\n]*\}\}\n\n$/);
      expect(text).not.toContain('[DONE]');
      await stopped;

      const again = await start(config, { directory: home });
      const record = (await again.admin('GET', `/admin/v1/requests/${id}`)).body;
      expect(record).toMatchObject({ id, cost: '0.15' });
      expect(record.result).not.toBe('pending');
      const { body } = await again.admin('GET', '/admin/v1/usage?group_by=key');
      expect(body.data).toMatchObject([{ key: made.body.id, requests: 1, cost: '0.15' }]);
    },
  );
});

describe('secrets at rest', () => {
  const KEYED = {
    server: { store: STORE },
    providers: [
      {
        name: 'upstream',
        type: 'openai',
        base_url: 'http://127.0.0.1:9/v1',
        api_key: '${secret:env:CANARY}',
      },
    ],
  };
  const env = { CANARY: 'canary-of-a-provider-key-0123456789' };

  it(
    verifies(
      'store.secrets.encrypted',
      'store.keys.hashed',
      'are nowhere in the data directory in a form that can be used',
    ),
    async () => {
      const home = await directoryOfTest();
      const gateway = await start(KEYED, { directory: home, env });
      const canary = 'canary-given-over-the-api-9876543210';
      const provider = { name: 'other', type: 'openai', api_key: canary };
      expect((await gateway.admin('POST', '/admin/v1/providers', provider)).status).toBe(201);
      const { value } = (await gateway.admin('POST', '/admin/v1/keys', { name: 'k' })).body;
      const legacy = 'sk-sb-canary-of-an-imported-key';
      await gateway.admin('POST', '/admin/v1/keys', { name: 'legacy', value: legacy });
      await gateway.stop();

      const secrets = [env.CANARY, canary, value, legacy, gateway.clientKey, gateway.adminKey];
      const data = join(home, '.gateway');
      const names = await readdir(data, { recursive: true, withFileTypes: true });
      const files = names.filter((entry) => entry.isFile());
      expect(files.length).toBeGreaterThan(2);
      for (const { parentPath, name } of files) {
        const bytes = await readFile(join(parentPath, name));
        const found = secrets.filter((secret) => bytes.includes(secret));
        // The one key that the command line finds by itself lies in a file of its owner alone.
        expect([name, found]).toEqual([name, name === 'admin.key' ? [gateway.adminKey] : []]);
      }
      expect(
        secrets.filter((secret) => secret !== gateway.clientKey && gateway.log().includes(secret)),
      ).toEqual([]);
    },
  );

  it(
    verifies(
      'store.secrets.key-rotation',
      'open with the key they were sealed with, current or previous; another stops the start',
    ),
    async () => {
      const home = await directoryOfTest();
      const withKeys = (secrets: object) => ({ ...ECHO, server: { store: STORE, secrets } });
      const old = { OLD: 'the-old-master-key-0123456789', NEW: 'the-new-master-key-0123456789' };
      const reference = (name: string) => `\${secret:env:${name}}`;
      const options = { directory: home, env: old };
      const first = await start(withKeys({ master_key: reference('OLD') }), options);
      await first.stop();

      await writeConfig(home, withKeys({ master_key: reference('NEW') }), true);
      const refused = await refusedStart({ cwd: home, env: old });
      expect(refused.code).toBe(1);
      expect(refused.said).toMatch(/^gateway: the master key does not fit this store; [^\n]+\n$/);

      const both = { master_key: reference('NEW'), previous_keys: [reference('OLD')] };
      const second = await start(withKeys(both), options);
      expect((await second.chat('acme/echo', { key: first.clientKey })).status).toBe(200);
      const fresh = await second.admin('POST', '/admin/v1/keys', { name: 'fresh' });
      expect(fresh.status).toBe(201);
      await second.stop();

      const third = await start(withKeys(both), options);
      for (const key of [first.clientKey, fresh.body.value])
        expect((await third.chat('acme/echo', { key })).status).toBe(200);
    },
  );
});
