import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startVendor } from '../../support/fake-vendor.ts';
import { ask, eventually, writeConfig } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { runHere, startHere } from './start-here.ts';

const ECHO = {
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'acme/echo', routes: [{ provider: 'mock' }] }],
};
const LOCKED = { providers: [{ name: 'a', type: 'openai', api_key: '${secret:env:NOT_SET}' }] };

async function takePort(): Promise<{ port: number; server: Server }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, server };
}

describe('a start that fails', () => {
  it(
    verifies(
      'cli.start.nothing-used-up',
      'has made and shown nothing, so that the next one is the first',
    ),
    async () => {
      const cwd = await directoryOfTest();
      const { port, server } = await takePort();
      await writeConfig(cwd, { server: { listen: { port } }, ...ECHO }, true);
      const taken = await runHere(['start'], { cwd });
      expect(taken).toMatchObject({ code: 1, said: expect.stringContaining('is in use') });
      await writeConfig(cwd, LOCKED, true);
      const missing = await runHere(['start'], { cwd });
      expect(missing).toMatchObject({ code: 3, said: expect.stringContaining('NOT_SET') });
      await writeFile(join(cwd, 'gateway.yaml'), 'version: 1\nmodels: 7\n');
      const invalid = await runHere(['start'], { cwd });
      expect(invalid.code).toBe(3);
      for (const { said } of [taken, missing, invalid]) expect(said).not.toContain('sk-');
      expect(await readdir(cwd)).toEqual(['gateway.yaml']);
      server.close();
      await writeConfig(cwd, ECHO, true);
      expect((await startHere(['start'], { cwd })).key).toMatch(/^sk-/);
    },
  );

  it(
    verifies('cli.start.check-agrees', 'is told by --check with the same exit code and words'),
    async () => {
      const cwd = await directoryOfTest();
      const { port } = await takePort();
      const faults = [
        { server: { listen: { port } } },
        { server: { metrics: { listen: { host: '127.0.0.1', port } } } },
        { server: { data_dir: 'gateway.yaml' } },
        { server: { secrets: { master_key: '${secret:env:NOT_SET}' } } },
        LOCKED,
        { models: 7 },
      ];
      const run = (...flags: string[]) => runHere(['start', ...flags], { cwd });
      for (const fault of faults) {
        await writeConfig(cwd, fault, true);
        const checked = await run('--check');
        expect(checked.code).not.toBe(0);
        expect(checked.said).not.toBe('');
        expect(await run()).toEqual(checked);
      }
      await writeConfig(cwd, LOCKED, true);
      const env = { NOT_SET: 'is set' };
      const good = await runHere(['start', '--check'], { cwd, env });
      expect(good).toEqual({
        code: 0,
        said: 'configuration is valid, and a start would succeed\n',
      });
      expect(await readdir(cwd)).toEqual(['gateway.yaml']);
      expect((await startHere(['start'], { cwd, env })).url).toMatch(/^http/);
    },
    60_000,
  );
});

it(
  verifies('cli.start.declared-keys', 'a list of keys, empty or not, makes no further client key'),
  async () => {
    const cwd = await directoryOfTest();
    const value = `sk-${'0123456789abcdef'.repeat(4)}`;
    await writeConfig(cwd, { ...ECHO, keys: [{ name: 'app', value: '${secret:env:APP}' }] }, true);
    const { log, url, key } = await startHere(['start'], { cwd, env: { APP: value } });
    expect(key).toBeUndefined();
    expect(log()).toContain('client keys are those that the configuration declares');
    const body = { model: 'acme/echo', messages: [{ role: 'user', content: 'Hello!' }] };
    const path = `${url}/v1/chat/completions`;
    expect((await ask(path, { method: 'POST', key: value, body })).status).toBe(200);
    const admin = (await readFile(join(cwd, '.gateway', 'admin.key'), 'utf8')).trim();
    const keys = (await ask(`${url}/admin/v1/keys`, { key: admin })).body.data;
    expect(keys.map(({ name }: { name: string }) => name).toSorted()).toEqual(['admin', 'app']);
  },
);

it(
  verifies('cli.start.open-host', 'an open host is told with what it opens, before it listens'),
  async () => {
    const cwd = await directoryOfTest();
    await writeConfig(cwd, ECHO, true);
    const { log, stop } = await startHere(['start', '--host', '0.0.0.0'], { cwd });
    const [before = ''] = log().split('gateway listening');
    expect(before).toMatch(/opening a free port on every address of this machine.*to everyone/);
    expect(before).toContain('/admin/v1 for holders of a key');
    await stop();
    expect((await startHere(['start'], { cwd })).log()).not.toContain('opening');
  },
);

it('a first start names the routes that spending limits cannot use', async () => {
  const cwd = await directoryOfTest();
  const route = { provider: 'own' };
  const provider = {
    name: 'own',
    type: 'custom',
    base_url: 'http://127.0.0.1:9/v1',
    auth: { type: 'none' },
    protocols: { chat: true },
  };
  const models = [
    { name: 'own/unpriced', routes: [route] },
    { name: 'own/free', routes: [route], pricing: 'free' },
  ];
  await writeConfig(cwd, { providers: [provider], models }, true);
  const { log } = await startHere(['start'], { cwd });
  const line = await eventually(() => /^.*unpriced routes.*$/m.exec(log())?.[0]);
  expect(line).toContain('calls under a spending limit do not use them');
  expect(line).toContain('own/unpriced (own)');
  expect(line).not.toContain('own/free');
});

describe('a start without a file', () => {
  const chat = async (url: string, key: string | undefined, model: string) => {
    const body = { model, messages: [{ role: 'user', content: 'Hello!' }] };
    return ask(`${url}/v1/chat/completions`, { method: 'POST', key: key ?? '', body });
  };

  it('serves every model of the vendors whose keys are set, also in .env', async () => {
    const cwd = await directoryOfTest();
    const vendor = await startVendor(['gpt-5', 'gpt-5-mini']);
    onTestFinished(() => vendor.close());
    await writeFile(
      join(cwd, '.env'),
      `# keys\nexport OPENAI_API_KEY="from-file"\nXAI_API_KEY=x\nOTHER=1\n`,
    );
    const env = { OPENAI_BASE_URL: vendor.baseUrl, XAI_API_KEY: 'y' };
    const { log, url, key } = await startHere(['start', '--port', '0'], { cwd, env });
    expect(log()).toContain(
      'openai with OPENAI_API_KEY in .env, at OPENAI_BASE_URL: every model as openai/MODEL',
    );
    expect(log()).toContain('xai with XAI_API_KEY: every model as xai/MODEL');
    expect(await chat(url, key, 'openai/gpt-9')).toMatchObject({ status: 200 });
    expect(await chat(url, key, 'gpt-9')).toMatchObject({ status: 200 });
    expect(vendor.asked.at(-1)).toMatchObject({ key: 'from-file', model: 'gpt-9' });
    await eventually(async () => {
      const { body } = await ask(`${url}/v1/models`, { key: key ?? '' });
      return body.data.some(({ id }: { id: string }) => id === 'openai/gpt-5-mini');
    });
    expect((await readdir(cwd)).toSorted()).toEqual(['.env', '.gateway']);
  });

  it('names what it looked for where nothing is set, and serves the mock', async () => {
    const cwd = await directoryOfTest();
    const { log, url, key } = await startHere(['start', '--port', '0'], { cwd });
    const [hint = ''] = log().split('gateway listening');
    expect(hint).toMatch(/no gateway.yaml and no key of a vendor.*OPENAI_API_KEY.*gateway init/s);
    expect(hint).toContain(`in ${join(cwd, '.env')}`.replace(`${cwd}/`, ''));
    expect(hint.length).toBeLessThan(300);
    expect(await chat(url, key, 'mock/echo')).toMatchObject({ status: 200 });
  });
});

it(
  verifies(
    'cli.init.env-wildcards',
    'init writes the vendors that are set with all of their models',
  ),
  async () => {
    const cwd = await directoryOfTest();
    const env = { OPENAI_API_KEY: 'canary' };
    const made = await runHere(['init', '--template', 'env'], { cwd, env });
    expect(made).toMatchObject({ code: 0, said: expect.stringContaining('looked for ANTHROPIC_') });
    const text = await readFile(join(cwd, 'gateway.yaml'), 'utf8');
    expect(text).toContain('    api_key: ${secret:env:OPENAI_API_KEY}\n    models: all\n');
    expect(text).toContain('aliases:\n  gpt-*: openai/gpt-*\n');
    expect(text).not.toContain('canary');
    expect((await runHere(['start', '--check', '--port', '0'], { cwd, env })).code).toBe(0);
    const bare = await directoryOfTest();
    const none = await runHere(['init', '--template', 'env'], { cwd: bare });
    expect(none).toMatchObject({ code: 1, said: expect.stringContaining('nothing was written') });
    expect(none.said).toMatch(/looked for .*OPENAI_API_KEY.* in the environment or .*\.env/);
    expect(await readdir(bare)).toEqual([]);
    await writeFile(join(bare, '.env'), 'XAI_API_KEY=x\n');
    expect((await runHere(['init', '--template', 'env'], { cwd: bare })).code).toBe(0);
    const checked = await runHere(['start', '--check', '--port', '0'], { cwd: bare });
    expect(checked).toMatchObject({
      code: 0,
      said: expect.stringContaining('from .env: XAI_API_KEY'),
    });
  },
);
