import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request } from 'node:https';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import v8 from 'node:v8';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { createAuthority } from '../../support/certificates.ts';
import { ask, eventually, spawnGateway, writeConfig } from '../../support/gateway.ts';

let directory: string;
let file: string;
const running: ReturnType<typeof spawnGateway>[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gateway-dev-'));
  file = await writeConfig(directory, configWith('own/one'), true);
});
afterEach(async () => {
  for (const child of running.splice(0)) await stop(child);
  await rm(directory, { recursive: true, force: true });
});

function configWith(...names: string[]): object {
  const models = names.map((name) => ({ name, routes: [{ provider: 'mock' }] }));
  return { providers: [{ name: 'mock', type: 'mock' }], models };
}

interface Running {
  child: ReturnType<typeof spawnGateway>;
  url: string;
  key: string;
}

const READY = /client key is in (\S+)\n[^]*gateway listening on (\S+)\n/;

async function start(argv: string[]): Promise<Running> {
  const child = spawnGateway([...argv, '-c', file], { cwd: directory, env: home() });
  running.push(child);
  const [, keyFile = '', url = ''] = await eventually(() => {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${child.log()}`);
    return READY.exec(child.log()) ?? undefined;
  });
  return { child, url, key: (await readFile(keyFile, 'utf8')).trim() };
}

interface RunningHere {
  key: string;
  /** Everything on stderr so far. */
  log(): string;
  /** Ends it as SIGTERM does; gives its exit code. */
  stop(): Promise<number>;
}

/** `gateway dev` in this process, until it ends: the first test has the program. */
function runHere(...argv: string[]): { ended: Promise<number>; log(): string } {
  let said = '';
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  // The bounds of the heap are set for a whole process, which here is not only the gateway's.
  const flags = vi.spyOn(v8, 'setFlagsFromString').mockReturnValue();
  const run = async (): Promise<number> => {
    try {
      const { code } = await runCli(['dev', ...argv, '-c', file], {
        cwd: directory,
        env: home({ CLOUDFLARED_VERSION: 'fake' }),
        onStderr: (text) => (said += text),
      });
      return code;
    } finally {
      write.mockRestore();
      flags.mockRestore();
    }
  };
  return { ended: run(), log: () => said };
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

async function startHere(...argv: string[]): Promise<RunningHere> {
  const others = SIGNALS.flatMap((signal) => process.listeners(signal));
  const own = (signal: NodeJS.Signals) =>
    process.listeners(signal).filter((listener) => !others.includes(listener));
  const { ended, log } = runHere(...argv);
  const stop = async (): Promise<number> => {
    for (const listener of own('SIGTERM')) listener('SIGTERM');
    const code = await ended;
    for (const signal of SIGNALS) for (const listener of own(signal)) process.off(signal, listener);
    return code;
  };
  onTestFinished(async () => void (await stop()));
  const keyFile = (await eventually(() => READY.exec(log())?.[1])) ?? '';
  return { key: (await readFile(keyFile, 'utf8')).trim(), log, stop };
}

function home(env: Record<string, string> = {}): Record<string, string> {
  return { HOME: directory, XDG_CONFIG_HOME: join(directory, 'home'), ...env };
}

async function stop(child: Running['child']): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  }
  return child.exitCode;
}

const shown = ({ log }: { log(): string }, pattern: RegExp) =>
  eventually(() => pattern.exec(log())?.[1]);

function chat(origin: string, key: string, model = 'own/one') {
  const body = { model, messages: [{ role: 'user', content: 'hello' }] };
  return ask(`${origin}/v1/chat/completions`, { method: 'POST', key, body });
}

/** Status and body of a GET that takes any certificate. */
function get(url: string, headers: Record<string, string>): Promise<[number, string]> {
  const ask = url.startsWith('https:') ? request : httpRequest;
  return new Promise((resolve, reject) => {
    const options = { headers, rejectUnauthorized: false };
    const outgoing = ask(url, options, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
      answer.once('end', () => resolve([answer.statusCode ?? 0, text]));
    });
    outgoing.once('error', reject).end();
  });
}

/** A program in the place of cloudflared that writes down its arguments and tells an address. */
async function fakeTunnel(): Promise<{ arguments: string }> {
  const folder = join(directory, 'home', 'gateway', 'tunnel', 'node-untun');
  await mkdir(folder, { recursive: true });
  const program = join(folder, 'cloudflared.fake');
  const written = join(directory, 'arguments');
  const lines = [
    '#!/bin/sh',
    `echo "$@" > '${written}.new' && mv '${written}.new' '${written}'`,
    'echo "INF |  https://some-words.trycloudflare.com  |" >&2',
    'exec sleep 600',
  ];
  await writeFile(program, `${lines.join('\n')}\n`);
  await chmod(program, 0o755);
  return { arguments: written };
}

describe('gateway dev', () => {
  it(
    verifies(
      'cli.dev',
      'serves with a line for each request, beside it HTTPS with --https, and reloads changed files',
    ),
    async () => {
      const dev = await start(['dev', '--https', '--https-port', '0']);
      const secure = (await shown(dev.child, /https {7}(https:\S+)/)) ?? '';
      expect(secure).toMatch(/^https:\/\/localhost:\d+$/);
      const headers = { authorization: `Bearer ${dev.key}` };
      const [status, text] = await get(`${secure}/v1/models`, headers);
      expect(status).toBe(200);
      expect(text).toContain('own/one');
      expect((await get(`${secure}/console`, {}))[0]).not.toBe(502);
      expect((await chat(dev.url, dev.key)).status).toBe(200);
      await shown(
        dev.child,
        /\d\d:\d\d:\d\d (200 chat own\/one → mock (?:\d+ ms|[\d.]+ s) \d+ \+ \d+ tokens \$0\S* req_)/,
      );
      expect((await chat(dev.url, dev.key, 'own/two')).status).toBe(404);
      await shown(dev.child, /(404 chat own\/two .*req_)/);
      await writeConfig(directory, configWith('own/one', 'own/two'), true);
      await eventually(async () => (await chat(dev.url, dev.key, 'own/two')).status === 200);
      expect(await stop(dev.child)).toBe(0);
    },
  );

  it(
    verifies('cli.dev', 'opens a tunnel only after it said what it downloads and was answered yes'),
    async () => {
      const unasked = runHere('--public');
      expect(await unasked.ended).toBe(64);
      expect(unasked.log()).toMatch(/downloads the program cloudflared from github\.com[^]*--yes/);
      await expect(stat(join(directory, 'home'))).rejects.toThrow('ENOENT');

      const tunnel = await fakeTunnel();
      const dev = await startHere('--public', '--yes');
      const told = await shown(dev, /public {6}(\S+)/);
      expect(told).toBe('https://some-words.trycloudflare.com');
      const given = await eventually(() =>
        readFile(tunnel.arguments, 'utf8').catch(() => undefined),
      );
      const local = /--url (http:\S+?)\/? /.exec(given)?.[1] ?? '';
      const headers = { host: 'some-words.trycloudflare.com', authorization: `Bearer ${dev.key}` };
      expect((await get(`${local}/v1/models`, headers))[0]).toBe(200);
      for (const path of ['/console', '/%63onsole/x', '//console?x']) {
        expect((await get(local + path, headers))[0]).toBe(404);
      }
      expect(await dev.stop()).toBe(0);
    },
  );

  it('opens a tunnel to a gateway that serves HTTPS itself', async () => {
    const authority = createAuthority('Developers');
    const { cert, key } = authority.issue('dev.example');
    authority.dispose();
    await writeFile(join(directory, 'tls.crt'), cert);
    await writeFile(join(directory, 'tls.key'), key);
    const listen = { tls: { cert: 'tls.crt', key: 'tls.key' } };
    await writeConfig(directory, { ...configWith('own/one'), server: { listen } }, true);
    const tunnel = await fakeTunnel();
    const dev = await startHere('--https', '--public', '--yes');
    await shown(dev, /(https {7}served by server\.listen\.tls already)/);
    await shown(dev, /public {6}(\S+)/);
    const given = await eventually(() => readFile(tunnel.arguments, 'utf8').catch(() => undefined));
    const local = /--url (http:\S+?)\/? /.exec(given)?.[1] ?? '';
    const headers = { authorization: `Bearer ${dev.key}` };
    expect((await get(`${local}/v1/models`, headers))[0]).toBe(200);
    expect(await dev.stop()).toBe(0);
  });

  it('shows a QR code of an address that others reach, or says how', async () => {
    const dev = await startHere('--qr');
    await shown(dev, /(no other device reaches http:\S+; add --host 0\.0\.0\.0)/);
    expect(await dev.stop()).toBe(0);
  });

  it('ends with a sentence when the port of --https is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const { ended, log } = runHere('--https', '--https-port', String(port));
    expect([await ended, log()]).toEqual([1, expect.stringContaining(`port ${port}`)]);
  });
});
