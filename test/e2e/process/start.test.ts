import { once } from 'node:events';
import { chmod, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { ask, eventually, runGateway, spawnGateway, writeConfig } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { gatewayOfTest } from '../../support/process/gateway-of-test.ts';
import { runHere, startHere } from './start-here.ts';
import type { StartedHere } from './start-here.ts';

const ECHO = {
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'acme/echo', routes: [{ provider: 'mock' }] }],
};

/** Runs a command in the folder of a gateway, as a person there does. */
const here = (cwd: string, ...argv: string[]) => runCli(argv, { cwd, env: { HOME: cwd } });

/** The edit loop: the plan of the file says what a reload makes, and the reload makes it. */
async function expectEditLoop(cwd: string): Promise<void> {
  const models = [{ ...ECHO.models[0], description: 'edited' }];
  await writeConfig(cwd, { ...ECHO, models }, true);
  const plan = await here(cwd, 'plan');
  expect(plan.code).toBe(0);
  expect(plan.stdout).toContain('~ update model acme/echo');
  expect(plan.stdout).toMatch(/follows .*gateway\.yaml: `gateway reload` makes 1 change/);
  const apply = await here(cwd, 'apply', '--yes');
  expect(apply.code).toBe(5);
  expect(apply.stderr).toContain('hint: run `gateway reload`');
  const reload = await here(cwd, 'reload');
  expect(reload).toMatchObject({ code: 0 });
  expect(reload.stdout).toContain('~ update model acme/echo  (description)');
  expect(reload.stdout).toContain('reloaded gateway.yaml: 0 created, 1 updated, 0 removed');
  expect((await here(cwd, 'plan', '--exit-code')).code).toBe(0);
  await writeFile(join(cwd, 'gateway.yaml'), 'modells: []');
  const refused = await here(cwd, 'reload');
  expect(refused.code).toBe(3);
  expect(refused.stderr).toMatch(/gateway\.yaml:1:1: .*\n.*is refused: .* serves on/s);
}

/** It answers on a port of its own, and has written down where. */
async function expectServed(cwd: string, url: string, pid: number | undefined): Promise<void> {
  expect(Number(new URL(url).port)).toBeGreaterThan(0);
  expect((await ask(`${url}/healthz`)).status).toBe(200);
  const runtime = await readFile(join(cwd, '.gateway', 'runtime.json'), 'utf8');
  expect(JSON.parse(runtime)).toMatchObject({ url, pid, files: [join(cwd, 'gateway.yaml')] });
}

describe('gateway start', () => {
  it(
    verifies(
      'cli.serve',
      'process.status',
      'process.plan-followed',
      'takes the port of the file or flag, prints the address and answers; status, plan, reload and stop find it; serve is the same',
    ),
    async () => {
      const cwd = await directoryOfTest();
      await writeConfig(cwd, ECHO, true);
      const child = spawnGateway(['start', '-c', 'gateway.yaml', '--port', '0'], { cwd });
      const [, url = ''] = await eventually(
        () => /listening on (http:\/\/127\.0\.0\.1:\d+)\n/.exec(child.log()) ?? undefined,
      );
      await expectServed(cwd, url, child.pid);
      const status = await here(cwd, 'status');
      expect(status.stdout).toContain(`runs: process ${child.pid} since`);
      await expectEditLoop(cwd);
      const exit = once(child, 'exit');
      expect(await here(cwd, 'stop')).toMatchObject({ code: 0 });
      expect(await exit).toEqual([0, null]);
      expect(await here(cwd, 'status')).toMatchObject({ code: 1 });
      await writeConfig(cwd, ECHO, true);
      const again = await startHere(['serve'], { cwd });
      await expectServed(cwd, again.url, process.pid);
      expect(await again.stop()).toBe(0);
    },
  );

  it(
    verifies(
      'cli.serve.check',
      'prints every fault of the file and exits 3 without a port; --check only checks',
    ),
    async () => {
      const cwd = await directoryOfTest();
      await writeFile(
        join(cwd, 'bad.yaml'),
        [
          'version: 1',
          'server: { listen: { port: 70000 }, dirve: x }',
          'providers: [{ name: a, type: martian }]',
          'models: [{ name: m, routes: [{ provider: nobody }] }]',
        ].join('\n'),
      );
      for (const argv of [['start'], ['serve', '--check']]) {
        const { code, said } = await runHere([...argv, '-c', 'bad.yaml'], { cwd });
        expect(code).toBe(3);
        for (const fault of ['bad.yaml:2:', 'dirve', '70000|65535', 'martian', 'nobody'])
          expect(said).toMatch(new RegExp(fault));
        expect(said).not.toContain('listening');
      }
      await writeConfig(cwd, ECHO, true);
      const good = await runHere(['serve', '--check'], { cwd });
      expect(good).toMatchObject({
        code: 0,
        said: 'configuration is valid, and a start would succeed\n',
      });
      expect(await readdir(cwd)).toEqual(['bad.yaml', 'gateway.yaml']);
    },
  );

  it(
    verifies('cli.serve.zero-config', 'works right after init, with a model and a printed key'),
    async () => {
      const cwd = await directoryOfTest();
      expect((await runHere(['init'], { cwd })).code).toBe(0);
      const { models } = parse(await readFile(join(cwd, 'gateway.yaml'), 'utf8'));
      const { url, key = '', stop } = await startHere(['serve', '--port', '0'], { cwd });
      expect(key).toMatch(/^sk-[0-9a-f]{64}$/);
      const body = { model: models[0].name, messages: [{ role: 'user', content: 'Hello!' }] };
      const answer = await ask(`${url}/v1/chat/completions`, { method: 'POST', key, body });
      expect(answer).toMatchObject({ status: 200, body: { object: 'chat.completion' } });
      expect(await stop()).toBe(0);
    },
  );

  it(
    verifies(
      'console-free-bootstrap',
      'makes an organization and two keys on an empty store, and never again',
    ),
    async () => {
      const cwd = await directoryOfTest();
      await writeConfig(cwd, ECHO, true);
      const first = await startHere(['start'], { cwd });
      const file = join(cwd, '.gateway', 'admin.key');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const adminKey = (await readFile(file, 'utf8')).trim();
      const { key = '' } = first;
      expect(key).not.toBe('');
      expect(first.log()).not.toContain(adminKey);
      const resources = async ({ url }: StartedHere) =>
        Promise.all(
          ['organizations', 'keys'].map(
            async (kind) => (await ask(`${url}/admin/v1/${kind}`, { key: adminKey })).body,
          ),
        );
      const chat = ({ url }: StartedHere) => {
        const body = { model: 'acme/echo', messages: [{ role: 'user', content: 'hello' }] };
        return ask(`${url}/v1/chat/completions`, { method: 'POST', key, body });
      };
      const made = await resources(first);
      expect(made.map(({ data }) => data.length)).toEqual([1, 2]);
      expect((await chat(first)).status).toBe(200);
      await first.stop();

      const second = await startHere(['start'], { cwd });
      expect(second.log()).not.toMatch(/sk-[0-9a-f]{64}/);
      expect(await resources(second)).toEqual(made);
      expect((await chat(second)).status).toBe(200);
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
      const gateway = await gatewayOfTest({ server: { limits: { rpm: 1 } } }, { binary: false });
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
  ];

  it.each(CASES)('says in one line what to do about $what', async ({ prepare, says }) => {
    const cwd = await directoryOfTest();
    await writeConfig(cwd, ECHO, true);
    const { code, said } = await runHere(['start', ...(await prepare(cwd))], { cwd });
    expect(said.trimEnd().split('\n')).toEqual([expect.stringMatching(says)]);
    expect(said).toMatch(/^gateway: /);
    expect(code).toBe(1);
  });

  it.each([
    {
      what: 'a port in use',
      host: '127.0.0.1',
      says: /port \d+ of 127\.0\.0\.1 is in use; .*--port/,
    },
    { what: 'a foreign address', host: '192.0.2.1', says: /is not an address of this .*--host/ },
  ])('ends on $what with a sentence, and the next start is the first', async (one) => {
    const cwd = await directoryOfTest();
    await writeConfig(cwd, ECHO, true);
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const argv = ['start', '--host', one.host, '--port', String(port)];
    const first = await runHere(argv, { cwd });
    expect(first.said).not.toContain('client key');
    expect(first.said.trimEnd().split('\n').at(-1)).toMatch(/^gateway: /);
    expect(first.said).toMatch(one.says);
    expect(first.code).toBe(1);
    expect((await startHere(['start'], { cwd })).key).toMatch(/^sk-/);
  });

  it('exits 3 when the configuration cannot be read', async () => {
    const cwd = await directoryOfTest();
    const { code, said } = await runGateway(['start', '-c', 'none.yaml'], { cwd });
    expect([code, said]).toEqual([
      3,
      'none.yaml:1:1: error: cannot be read: no such file or directory\n',
    ]);
  });

  it('leaves out a stored provider that this version does not know, and serves the rest', async () => {
    const home = await directoryOfTest();
    const server = { store: { driver: 'lmdb' } };
    const first = await gatewayOfTest({ ...ECHO, server }, { binary: false, directory: home });
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

    const second = await gatewayOfTest({ ...ECHO, server }, { binary: false, directory: home });
    const { clientKey: key } = first;
    expect((await second.chat('acme/echo', { key })).status).toBe(200);
    expect((await second.chat('odd/one', { key })).status).toBe(404);
    expect(second.log()).toMatch(/provider left out provider=odd .*unknown provider type/);
  });
});
