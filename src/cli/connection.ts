import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CliError, usageError } from './cli-error.ts';

export interface ConnectionSources {
  /** The flag --server or GATEWAY_SERVER. */
  server: string | undefined;
  /** The flag --api-key-file or GATEWAY_API_KEY_FILE. */
  apiKeyFile: string | undefined;
  /** GATEWAY_API_KEY is read from here. */
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** A file of the project, when the command names one. */
  near?: string | undefined;
  keyRequired: boolean;
  /** Tells whether a process lives; for tests. */
  isAlive?: (pid: number) => boolean;
}

export interface Connection {
  server: string;
  /** Where the address comes from, in words. */
  serverOrigin: string;
  apiKey: string | undefined;
  keyOrigin: string;
}

export const DEFAULT_SERVER = 'http://127.0.0.1:8787';

/**
 * Server and key of a command: flags, then environment, then the nearest `.gateway` directory (its
 * running server and its admin key), then the default address. A key that belongs to the local
 * gateway is never sent to a remote server that was named.
 */
export function findConnection(sources: ConnectionSources): Connection {
  const directory = findGatewayDirectory(sources);
  const running = directory && readRuntime(directory, sources.isAlive ?? isAlive);
  const { server, origin } = pickServer(sources, running, directory);
  const mayUseLocalKey = server === running || isLoopback(server);
  const key = pickKey(sources, mayUseLocalKey ? directory : undefined);
  if (key === undefined && sources.keyRequired) throw noKey(server);
  return {
    server,
    serverOrigin: origin,
    apiKey: key?.value,
    keyOrigin: key?.origin ?? 'nowhere',
  };
}

/** The nearest `.gateway` of the working directory or of the named file, upwards. */
export function findGatewayDirectory({
  cwd,
  near,
}: Pick<ConnectionSources, 'cwd' | 'near'>): string | undefined {
  const starts = near === undefined ? [cwd] : [dirname(resolve(cwd, near)), cwd];
  for (const start of starts) {
    for (let at = resolve(start); ; at = dirname(at)) {
      const candidate = join(at, '.gateway');
      if (statSync(candidate, { throwIfNoEntry: false })?.isDirectory()) return candidate;
      if (dirname(at) === at) break;
    }
  }
  return undefined;
}

/**
 * The key in a file, without the whitespace around it. Throws `insecure_key_file` (exit 4) when
 * others may read it, and `no_key_file` when it is missing or empty.
 */
export function readKeyFile(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new CliError({ code: 'no_key_file', message: `${path} does not exist`, exit: 'auth' });
  }
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
    throw new CliError({
      code: 'insecure_key_file',
      message: `${path} has mode ${mode}: others on this machine may read the key`,
      hint: `chmod 600 ${path}`,
      exit: 'auth',
    });
  }
  const value = readFileSync(path, 'utf8').trim();
  if (value === '')
    throw new CliError({ code: 'no_key_file', message: `${path} is empty`, exit: 'auth' });
  return value;
}

function pickServer(sources: ConnectionSources, running: string | undefined, directory?: string) {
  if (sources.server !== undefined) {
    return { server: normalise(sources.server), origin: '--server or GATEWAY_SERVER' };
  }
  if (running !== undefined) return { server: running, origin: `${directory}/runtime.json` };
  return { server: DEFAULT_SERVER, origin: 'default' };
}

function pickKey({ apiKeyFile, env, cwd }: ConnectionSources, directory: string | undefined) {
  if (apiKeyFile !== undefined) {
    const path = resolve(cwd, apiKeyFile);
    return { value: readKeyFile(path), origin: path };
  }
  const value = env['GATEWAY_API_KEY']?.trim();
  if (value) return { value, origin: 'GATEWAY_API_KEY' };
  const path = directory && join(directory, 'admin.key');
  if (path === undefined || statSync(path, { throwIfNoEntry: false }) === undefined)
    return undefined;
  return { value: readKeyFile(path), origin: path };
}

function noKey(server: string): CliError {
  return new CliError({
    code: 'no_api_key',
    message: `no API key for ${server}`,
    hint: 'start a gateway here with `gateway start`, or set GATEWAY_API_KEY or --api-key-file',
    exit: 'auth',
  });
}

function normalise(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw usageError(
      `"${text}" is not the address of a gateway`,
      `write it like ${DEFAULT_SERVER}`,
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function isLoopback(server: string): boolean {
  const { hostname } = new URL(server);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** The URL that the running server wrote down; one whose process is gone is of no use. */
function readRuntime(directory: string, alive: (pid: number) => boolean): string | undefined {
  try {
    const runtime: unknown = JSON.parse(readFileSync(join(directory, 'runtime.json'), 'utf8'));
    if (runtime === null || typeof runtime !== 'object') return undefined;
    if (!('url' in runtime) || typeof runtime.url !== 'string') return undefined;
    const gone = 'pid' in runtime && typeof runtime.pid === 'number' && !alive(runtime.pid);
    return gone ? undefined : normalise(runtime.url);
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // A process of somebody else lives too.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM';
  }
}
