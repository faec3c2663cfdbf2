import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { formatDiagnostics, hasErrors } from '../../src/config/source/diagnostic.ts';
import { loadConfig } from '../../src/config/read/load-config.ts';
import { nodeConfigFiles } from '../../src/config/read/load.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import type { Clock } from '../../src/core/time/clock.ts';
import { reasonOf } from '../../src/core/errors.ts';
import { createLog } from '../../src/core/log.ts';
import { convergeConfig } from '../../src/server/process/converge-config.ts';
import { firstStart } from '../../src/server/process/first-start.ts';
import type { Gateway } from '../../src/server/compose/open-gateway.ts';
import { openConfigured, serveGateway } from '../../src/server/process/serve-gateway.ts';
import type { openStore } from '../../src/store/open-store.ts';

export const BINARY = fileURLToPath(new URL('../../bin/gateway.js', import.meta.url));
const START_TIMEOUT_MS = 90_000;
/** Between two looks of a test that waits. */
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 100;

export interface StartGatewayOptions {
  env?: Record<string, string>;
  /** A child process in place of this one. */
  binary?: boolean;
  /** Further words after `start` (binary only): `--workers`, `2`. */
  args?: readonly string[];
  /** Flags of Node.js that `NODE_OPTIONS` does not take (binary only). */
  nodeFlags?: readonly string[];
  /** In process only. */
  clock?: Clock;
  /** In process only: in place of the configured one. */
  openStore?: typeof openStore;
  /** Where `gateway.yaml` and `.gateway` lie; default: a new directory, removed at `stop`. */
  directory?: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON, else the text. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every shape
  body: any;
}

export interface TestGateway {
  readonly url: string;
  /** Keys of the first start; of a later start on the same directory the client key is empty. */
  readonly adminKey: string;
  readonly clientKey: string;
  /** Holds `gateway.yaml` and the data directory `.gateway`. */
  readonly directory: string;
  /** The parts, when in process. */
  readonly gateway: Gateway | undefined;
  /** The process, when it is the binary. */
  readonly child: ChildProcess | undefined;
  /** A JSON request with the admin key. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>;
  /** A JSON request with a key; default the client key; empty for none. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** A chat completion; gives its answer. */
  chat(model: string, options?: CallOptions): Promise<Answer>;
  /** Everything logged so far (binary: everything on stderr). */
  log(): string;
  /** Stops with grace; gives the exit code of a binary. Idempotent. */
  stop(): Promise<number | null>;
}

export interface CallOptions {
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A gateway with this configuration on a free port, the store in memory unless it says otherwise. */
export async function startGateway(
  config: string | object = {},
  options: StartGatewayOptions = {},
): Promise<TestGateway> {
  const directory = options.directory ?? (await newDirectory());
  const file = await writeConfig(directory, config, options.binary === true);
  const started = options.binary
    ? await startBinary(file, directory, options)
    : await startInProcess(file, directory, options);
  const { url, clientKey, log } = started;
  const adminKey = (await readFile(join(directory, '.gateway', 'admin.key'), 'utf8')).trim();
  let stopping: Promise<number | null> | undefined;
  const stop = async (): Promise<number | null> => {
    const code = await started.stop();
    if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
    return code;
  };
  const call: TestGateway['call'] = (method, path, { key = clientKey, ...rest } = {}) =>
    ask(url + path, { method, key, ...rest });
  return {
    url,
    adminKey,
    clientKey,
    directory,
    gateway: started.gateway,
    child: started.child,
    admin: (method, path, body) => call(method, path, { key: adminKey, body }),
    call,
    chat: (model, rest = {}) =>
      call('POST', '/v1/chat/completions', {
        ...rest,
        body: { model, messages: [{ role: 'user', content: 'hello' }], ...(rest.body as object) },
      }),
    log,
    stop: () => (stopping ??= stop()),
  };
}

/** For tests that start several gateways on one data directory; the caller removes it. */
export function newDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'gateway-'));
}

/** One JSON request, as any HTTP client makes it. */
export async function ask(
  url: string,
  { method = 'GET', key = '', body, headers = {}, signal }: CallOptions & { method?: string } = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  const text = await response.text();
  const { status } = response;
  return { status, headers: response.headers, body: jsonOr(text) };
}

/**
 * Repeats until it gives something other than undefined or false; the deadline is the failure. Pauses grow
 * with the time so far, for each look takes processor time from the awaited work.
 */
export async function eventually<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = 60_000,
): Promise<T> {
  const begun = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    const waited = performance.now() - begun;
    if (waited > withinMs) throw new Error(`nothing within ${withinMs} ms`);
    const pause = Math.min(Math.max(SHORTEST_PAUSE_MS, waited / 20), LONGEST_PAUSE_MS);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Writes (again) the configuration of a gateway in `directory`. */
export async function writeConfig(
  directory: string,
  config: string | object,
  binary: boolean,
): Promise<string> {
  const root = (typeof config === 'string' ? (parse(config) as object) : config) as {
    server?: { listen?: object; store?: object };
  };
  const { server = {} } = root;
  const store = server.store ?? (binary ? undefined : { driver: 'memory' });
  const whole = {
    version: 1,
    ...root,
    server: {
      // Tests stop often, with connections that nobody is about to use.
      drain_idle: '50ms',
      ...server,
      listen: { host: '127.0.0.1', port: 0, ...server.listen },
      ...(store && { store }),
    },
  };
  await mkdir(directory, { recursive: true });
  const file = join(directory, 'gateway.yaml');
  await writeFile(file, JSON.stringify(whole, null, 2));
  return file;
}

interface Started {
  url: string;
  clientKey: string;
  gateway?: Gateway;
  child?: ChildProcess;
  log(): string;
  stop(): Promise<number | null>;
}

async function startInProcess(
  file: string,
  directory: string,
  { env = {}, clock = systemClock, openStore }: StartGatewayOptions,
): Promise<Started> {
  const { config, diagnostics } = await loadConfig({ paths: [file], env, cwd: directory });
  if (!config) throw new Error(formatDiagnostics(diagnostics, 'text'));
  let logged = '';
  const write = (line: string): void => void (logged += line);
  const log = createLog({ clock, ...config.server.log, write });
  const sources = { env, files: nodeConfigFiles };
  const gateway = await openConfigured(config, { clock, log, sources, openStore });
  try {
    const made = await firstStart(gateway.repository, config.server);
    const { diagnostics: problems } = await convergeConfig(gateway, config);
    if (hasErrors(problems)) throw new Error(formatDiagnostics(problems, 'text'));
    const serving = await serveGateway(gateway, config.server, clock);
    return {
      url: serving.url,
      clientKey: made?.clientKey ?? '',
      gateway,
      log() {
        log.flush();
        return logged;
      },
      stop: async () => (await serving.stop(), 0),
    };
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

async function startBinary(
  file: string,
  directory: string,
  { env = {}, args = [], nodeFlags }: StartGatewayOptions,
): Promise<Started> {
  const place = { cwd: directory, env, nodeFlags };
  const child = spawnGateway(['start', '-c', file, ...args], place);
  const ready = /(?:client key is in ([^\s"]+)[^]*)?gateway listening on (http[^\s"]+)[^\n]*\n/;
  const found = await eventually(() => {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}`);
    return ready.exec(child.log()) ?? undefined;
  }, START_TIMEOUT_MS).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw new Error(`${reasonOf(error)}: ${child.log()}`, { cause: error });
  });
  return {
    url: found[2] ?? '',
    clientKey: found[1] === undefined ? '' : (await readFile(found[1], 'utf8')).trim(),
    child,
    log: () => child.log(),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const exit = once(child, 'exit');
        child.kill('SIGTERM');
        await exit;
      }
      return child.exitCode;
    },
  };
}

interface SpawnOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  readonly nodeFlags?: readonly string[] | undefined;
}

/** The binary with an environment of its own; `log` is what it wrote on stderr. */
export function spawnGateway(
  argv: readonly string[],
  { cwd, env = {}, nodeFlags = [] }: SpawnOptions,
): ChildProcess & { log(): string } {
  let logged = '';
  const child = spawn(process.execPath, [...nodeFlags, BINARY, ...argv], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (logged += text));
  return Object.assign(child, { log: () => logged });
}

/** Runs the binary to its end. */
export async function runGateway(
  argv: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<{ code: number | null; said: string }> {
  const child = spawnGateway(argv, { cwd, env });
  const overdue = setTimeout(() => child.kill('SIGKILL'), 15_000);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(overdue);
  return { code, said: child.log() };
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
