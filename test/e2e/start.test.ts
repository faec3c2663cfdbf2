import { once } from 'node:events';
import { chmod, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { verifies } from '../requirements.ts';
import {
  ask,
  eventually,
  newDirectory,
  spawnGateway,
  startGateway,
  writeConfig,
} from '../support/gateway.ts';
import type { StartGatewayOptions, TestGateway } from '../support/gateway.ts';

const ECHO = {
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'acme/echo', routes: [{ provider: 'mock' }] }],
};

async function directory(): Promise<string> {
  const made = await newDirectory();
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

async function start(config: object, options: StartGatewayOptions = {}): Promise<TestGateway> {
  const gateway = await startGateway(config, { binary: true, ...options });
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

/** Runs the binary to its end. */
async function run(
  argv: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<{ code: number | null; said: string }> {
  const child = spawnGateway(argv, { cwd, env });
  const overdue = setTimeout(() => child.kill('SIGKILL'), 15_000);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(overdue);
  return { code, said: child.log() };
}

describe('gateway start', () => {
  it(
    verifies(
      'cli.serve',
      'takes the port of the file or flag, prints the address and answers; serve is the same',
    ),
    async () => {
      const cwd = await directory();
      await writeConfig(cwd, ECHO, true);
      for (const argv of [
        ['start', '-c', 'gateway.yaml', '--port', '0'],
        ['serve', '-c', 'gateway.yaml'],
        ['serve'],
      ]) {
        const child = spawnGateway(argv, { cwd });
        const [, url = ''] = await eventually(
          () => /listening on (http:\/\/127\.0\.0\.1:\d+)\n/.exec(child.log()) ?? undefined,
        );
        expect(Number(new URL(url).port)).toBeGreaterThan(0);
        expect((await ask(`${url}/healthz`)).status).toBe(200);
        expect(JSON.parse(await readFile(join(cwd, '.gateway', 'runtime.json'), 'utf8'))).toEqual({
          url,
          pid: child.pid,
        });
        child.kill('SIGTERM');
        expect(await once(child, 'exit')).toEqual([0, null]);
      }
    },
  );

  it(
    verifies(
      'cli.serve.check',
      'prints every fault of the file and exits 3 without a port; --check only checks',
    ),
    async () => {
      const cwd = await directory();
      await writeFile(
        join(cwd, 'bad.yaml'),
        [
          'version: 1',
          'server: { listen: { port: 70000 }, dirve: x }',
          'providers: [{ name: a, type: martian }]',
          'models: [{ name: m, routes: [{ provider: nobody }] }]',
        ].join('\n'),
      );
      for (const argv of [['start'], ['start', '--check'], ['serve', '--check']]) {
        const { code, said } = await run([...argv, '-c', 'bad.yaml'], { cwd });
        expect(code).toBe(3);
        for (const fault of ['bad.yaml:2:', 'dirve', '70000|65535', 'martian', 'nobody'])
          expect(said).toMatch(new RegExp(fault));
        expect(said).not.toContain('listening');
      }
      await writeConfig(cwd, ECHO, true);
      const good = await run(['serve', '--check'], { cwd });
      expect(good).toMatchObject({ code: 0, said: 'configuration is valid\n' });
      expect(await readdir(cwd)).toEqual(['bad.yaml', 'gateway.yaml']);
    },
  );

  it(
    verifies('cli.serve.zero-config', 'works right after init, with a model and a printed key'),
    async () => {
      const cwd = await directory();
      expect((await run(['init'], { cwd })).code).toBe(0);
      const { models } = parse(await readFile(join(cwd, 'gateway.yaml'), 'utf8'));
      const child = spawnGateway(['serve', '--port', '0'], { cwd });
      onTestFinished(() => void child.kill('SIGKILL'));
      const [, url = '', key = ''] = await eventually(
        () =>
          /listening on (\S+)[^]*client key {2}(sk-[0-9a-f]{64})/.exec(child.log()) ?? undefined,
      );
      const body = { model: models[0].name, messages: [{ role: 'user', content: 'Hello!' }] };
      const answer = await ask(`${url}/v1/chat/completions`, { method: 'POST', key, body });
      expect(answer).toMatchObject({ status: 200, body: { object: 'chat.completion' } });
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    },
  );

  it(
    verifies(
      'console-free-bootstrap',
      'makes an organization and two keys on an empty store, and never again',
    ),
    async () => {
      const home = await directory();
      const first = await start(ECHO, { directory: home });
      const file = join(home, '.gateway', 'admin.key');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(first.log()).toContain(first.clientKey);
      expect(first.log()).not.toContain(first.adminKey);
      const resources = async (gateway: TestGateway) =>
        Promise.all(
          ['organizations', 'keys'].map(
            async (kind) => (await gateway.admin('GET', `/admin/v1/${kind}`)).body,
          ),
        );
      const made = await resources(first);
      expect(made.map(({ data }) => data.length)).toEqual([1, 2]);
      expect((await first.chat('acme/echo')).status).toBe(200);
      await first.stop();

      const second = await start(ECHO, { directory: home });
      expect(second.log()).not.toMatch(/sk-[0-9a-f]{64}/);
      expect(await resources(second)).toEqual(made);
      expect((await second.chat('acme/echo', { key: first.clientKey })).status).toBe(200);
    },
  );
});

describe('health', () => {
  it(
    verifies(
      'ops.health',
      'is told without a key and without counting; readiness follows the store',
    ),
    async () => {
      const gateway = await start({ server: { limits: { rpm: 1 } } }, { binary: false });
      const look = async (path: string) => (await ask(gateway.url + path)).status;
      for (let again = 0; again < 5; again++)
        expect([await look('/healthz'), await look('/readyz')]).toEqual([200, 200]);
      expect((await gateway.call('GET', '/v1/models')).status).toBe(200);

      const { condition, store } = gateway.gateway!;
      condition.draining = true;
      expect([await look('/healthz'), await look('/readyz')]).toEqual([200, 503]);
      condition.draining = false;
      expect(await look('/readyz')).toBe(200);
      const ping = store.ping.bind(store);
      store.ping = () => Promise.reject(new Error('disk is gone'));
      expect([await look('/healthz'), await look('/readyz')]).toEqual([200, 503]);
      store.ping = ping;
    },
  );
});

describe('a stop', () => {
  const slow = (pieces: number, drain: string) => ({
    server: { drain },
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
      const gateway = await start(slow(20, '30s'));
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
      const home = await directory();
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
      const begun = performance.now();
      gateway.child!.kill('SIGTERM');
      const text = await rest;
      expect(text).toMatch(/data: \{"error":\{[^\n]*shutting down[^\n]*\}\}\n\n$/);
      expect(text).not.toContain('[DONE]');
      expect(await gateway.stop()).toBe(0);
      expect(performance.now() - begun).toBeLessThan(3_000);

      const again = await start(config, { directory: home });
      const record = (await again.admin('GET', `/admin/v1/requests/${id}`)).body;
      expect(record).toMatchObject({ id, cost: '0.15' });
      expect(record.result).not.toBe('pending');
      const { body } = await again.admin('GET', '/admin/v1/usage?group_by=key');
      expect(body.data).toMatchObject([{ key: made.body.id, requests: 1, cost: '0.15' }]);
    },
  );
});

describe('after kill -9', () => {
  it(
    verifies(
      'store.durability.ack',
      'everything that was acknowledged is there, and nothing by halves',
    ),
    async () => {
      const home = await directory();
      const gateway = await start(ECHO, { directory: home });
      const acknowledged = { models: [] as string[], requests: [] as string[] };
      let next = 0;
      const work = async (): Promise<void> => {
        for (;;) {
          const name = `acme/model-${next++}`;
          const model = { name, routes: [{ provider: 'mock' }] };
          const made = await gateway.admin('POST', '/admin/v1/models', model);
          if (made.status === 201) acknowledged.models.push(name);
          const answer = await gateway.chat('acme/echo');
          if (answer.status !== 200) continue;
          acknowledged.requests.push(String(answer.headers.get('x-request-id')));
        }
      };
      const workers = Promise.allSettled(Array.from({ length: 8 }, work));
      await eventually(() => acknowledged.requests.length >= 60);
      gateway.child!.kill('SIGKILL');
      await workers;

      const again = await start(ECHO, { directory: home });
      const names = new Set<string>();
      for (let page: string | null = ''; page !== null;) {
        const { body } = await again.admin('GET', `/admin/v1/models?limit=100&page=${page}`);
        for (const { name, routes } of body.data) {
          expect(routes).toHaveLength(1);
          names.add(name);
        }
        page = body.next_page;
      }
      expect(acknowledged.models.filter((name) => !names.has(name))).toEqual([]);
      for (const id of acknowledged.requests)
        expect((await again.admin('GET', `/admin/v1/requests/${id}`)).status).toBe(200);
      // What was under way is whole: every listed model can be called.
      const last = [...names].at(-1) ?? '';
      expect((await again.chat(last, { key: gateway.clientKey })).status).toBe(200);
    },
  );
});

describe('secrets at rest', () => {
  const KEYED = {
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
      const home = await directory();
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
      const home = await directory();
      const withKeys = (secrets: object) => ({ ...ECHO, server: { secrets } });
      const old = { OLD: 'the-old-master-key-0123456789', NEW: 'the-new-master-key-0123456789' };
      const reference = (name: string) => `\${secret:env:${name}}`;
      const options = { directory: home, env: old };
      const first = await start(withKeys({ master_key: reference('OLD') }), options);
      await first.stop();

      await writeConfig(home, withKeys({ master_key: reference('NEW') }), true);
      const refused = await run(['start'], { cwd: home, env: old });
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

describe('a start that cannot be', () => {
  const CASES: { what: string; says: RegExp; prepare(cwd: string): Promise<string[]> }[] = [
    {
      what: 'a file where the data directory should be',
      says: /cannot use \S+ as the data directory: .* in the way; name another with server\.data_dir/,
      prepare: async (cwd) => (await writeFile(join(cwd, '.gateway'), ''), []),
    },
    {
      what: 'a file where the store should be',
      says: /cannot use \S+store as the store: .*server\.store\.path/,
      async prepare(cwd) {
        await mkdir(join(cwd, '.gateway'));
        await writeFile(join(cwd, '.gateway', 'store'), '');
        return [];
      },
    },
    {
      what: 'a master key that others can read',
      says: /master\.key can be read by other users; run: chmod 600 \S+$/,
      async prepare(cwd) {
        await mkdir(join(cwd, '.gateway'));
        await writeFile(join(cwd, '.gateway', 'master.key'), 'x'.repeat(32));
        await chmod(join(cwd, '.gateway', 'master.key'), 0o644);
        return [];
      },
    },
    {
      what: 'an empty master key',
      says: /master\.key is empty; put the master key of this store back, or remove the file$/,
      async prepare(cwd) {
        await mkdir(join(cwd, '.gateway'));
        await writeFile(join(cwd, '.gateway', 'master.key'), '\n', { mode: 0o600 });
        return [];
      },
    },
    {
      what: 'a port in use',
      says: /port \d+ of 127\.0\.0\.1 is in use; .*--port/,
      async prepare() {
        const server = createServer().listen(0, '127.0.0.1');
        await once(server, 'listening');
        onTestFinished(() => void server.close());
        return ['--port', String((server.address() as AddressInfo).port)];
      },
    },
    {
      what: 'an address of another machine',
      says: /192\.0\.2\.1 is not an address of this machine; .*--host/,
      prepare: async () => ['--host', '192.0.2.1'],
    },
  ];

  it.each(CASES)('says in one line what to do about $what', async ({ prepare, says }) => {
    const cwd = await directory();
    await writeConfig(cwd, ECHO, true);
    const { code, said } = await run(['start', ...(await prepare(cwd))], { cwd });
    expect(said.trimEnd().split('\n')).toEqual([expect.stringMatching(says)]);
    expect(said).toMatch(/^gateway: /);
    expect(code).toBe(1);
  });

  it('exits 3 when the configuration cannot be read', async () => {
    const cwd = await directory();
    const { code, said } = await run(['start', '-c', 'none.yaml'], { cwd });
    expect([code, said]).toEqual([
      3,
      'none.yaml:1:1: error: cannot be read: no such file or directory\n',
    ]);
  });

  it('leaves out a stored provider that this version does not know, and serves the rest', async () => {
    const home = await directory();
    const server = { store: { driver: 'lmdb' } };
    const first = await start({ ...ECHO, server }, { binary: false, directory: home });
    const provider = { name: 'odd', type: 'mock' };
    const { id } = (await first.admin('POST', '/admin/v1/providers', provider)).body;
    await first.admin('POST', '/admin/v1/models', {
      name: 'odd/one',
      routes: [{ provider: 'odd' }],
    });
    const { store } = first.gateway!;
    const row = await store.get<{ spec: object }>(['resource', 'provider', id]);
    const spec = { ...row?.value.spec, type: 'martian' };
    await store.commit([
      { type: 'put', key: ['resource', 'provider', id], value: { ...row?.value, spec } },
    ]);
    await first.stop();

    const second = await start({ ...ECHO, server }, { binary: false, directory: home });
    const { clientKey: key } = first;
    expect((await second.chat('acme/echo', { key })).status).toBe(200);
    expect((await second.chat('odd/one', { key })).status).toBe(404);
    expect(second.log()).toMatch(/provider left out provider=odd .*unknown provider type/);
  });
});
