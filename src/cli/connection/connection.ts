import { networkInterfaces } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readRuntimes } from '../../core/process/runtime-file.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { Context } from './contexts.ts';
import { readPrivateFile } from './private-file.ts';
import { statSeen } from '../output/stat-seen.ts';

/** A gateway as its file has it, whether it runs or not. */
export interface DeclaredGateway {
  /** Undefined for a port that is only known once it is taken, and for another machine. */
  readonly server: string | undefined;
  /** Folder of its data. */
  readonly directory: string;
  /** The file. */
  readonly origin: string;
}

export interface ConnectionSources {
  /** The flag --server, GATEWAY_SERVER or a setting. */
  server: string | undefined;
  serverOrigin?: string | undefined;
  /** Its server counts when `server` is absent, its key only for that server. */
  context?: Context | undefined;
  /** True with --context: then its key wins over the environment. */
  contextIsNamedByFlag?: boolean;
  /** The flag --api-key-file or GATEWAY_API_KEY_FILE. */
  apiKeyFile: string | undefined;
  /** Default true. */
  apiKeyFileIsFlag?: boolean;
  /** GATEWAY_API_KEY is read from here. */
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** A file of the project, when the command names one. */
  near?: string | undefined;
  /** The gateway of the project's file; counts when neither one is named nor runs. */
  declared?: DeclaredGateway | undefined;
  keyRequired: boolean;
}

export interface Connection {
  server: string;
  /** Origin of the address, in words. */
  serverOrigin: string;
  /** Its name, when the server is that of a context. */
  context: string | undefined;
  apiKey: string | undefined;
  keyOrigin: string;
}

export const DEFAULT_SERVER = 'http://127.0.0.1:8787';

/**
 * Server and key of a command: flags, then environment and settings, then the context, then the nearest
 * `.gateway` directory (its running server and its admin key), then what the project's file declares, then
 * the default address. A key that
 * belongs to a context or to the local gateway is never sent to another server that was named.
 */
export function findConnection(sources: ConnectionSources): Connection {
  const { directory, running } = findLocal(sources);
  const { server, origin } = pickServer(sources, running, directory);
  const isLocal = sources.context === undefined && (server === running || isLoopback(server));
  const key = pickKey(sources, server, isLocal ? directory : undefined);
  if (key === undefined && sources.keyRequired)
    throw noKey(server, isLocal ? directory : undefined);
  return {
    server,
    serverOrigin: origin,
    context: sources.context?.server === server ? sources.context.name : undefined,
    apiKey: key?.value,
    keyOrigin: key?.origin ?? 'nowhere',
  };
}

/** True when only the file of the project can name a server. */
export function isUnnamed(sources: ConnectionSources): boolean {
  const { server, context } = sources;
  return server === undefined && context === undefined && findLocal(sources).running === undefined;
}

/** The nearest directory of a gateway that runs, else the nearest there is. */
function findLocal(sources: ConnectionSources): { directory?: string; running?: string } {
  const found = [findGatewayDirectory(sources), sources.declared?.directory].flatMap(
    (directory) => {
      if (directory === undefined) return [];
      const running = runningIn(directory);
      return [running === undefined ? { directory } : { directory, running }];
    },
  );
  return found.find(({ running }) => running !== undefined) ?? found[0] ?? {};
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
      if (statSeen(candidate)?.isDirectory()) return candidate;
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
  const value = readPrivateFile(path)?.trim();
  if (value) return value;
  const message = value === undefined ? `${path} does not exist` : `${path} is empty`;
  throw new CliError({ code: 'no_key_file', message, exit: 'auth' });
}

function pickServer(
  { server, serverOrigin = '--server or GATEWAY_SERVER', context, declared }: ConnectionSources,
  running: string | undefined,
  directory?: string,
) {
  if (server !== undefined) return { server: normaliseServer(server), origin: serverOrigin };
  if (context !== undefined) return { server: context.server, origin: `context ${context.name}` };
  if (running !== undefined) return { server: running, origin: `${directory}/runtime.json` };
  if (declared?.server !== undefined) {
    return { server: normaliseServer(declared.server), origin: declared.origin };
  }
  return { server: DEFAULT_SERVER, origin: 'default' };
}

function pickKey(sources: ConnectionSources, server: string, directory: string | undefined) {
  const { context, env } = sources;
  const file = keyFileOf(sources);
  if (file?.isNamedByFlag) return file.read();
  // A key never goes to another server than the one that it was made for.
  const own =
    context?.apiKey && context.server === server
      ? { value: context.apiKey, origin: `context ${context.name}` }
      : undefined;
  if (own !== undefined && sources.contextIsNamedByFlag) return own;
  if (file !== undefined) return file.read();
  const value = env['GATEWAY_API_KEY']?.trim();
  if (value) return { value, origin: 'GATEWAY_API_KEY' };
  if (own !== undefined) return own;
  const path = directory && join(directory, 'admin.key');
  if (path === undefined || statSeen(path) === undefined) return undefined;
  return { value: readKeyFile(path), origin: path };
}

function keyFileOf({ apiKeyFile, apiKeyFileIsFlag = true, cwd }: ConnectionSources) {
  if (apiKeyFile === undefined) return undefined;
  const path = resolve(cwd, apiKeyFile);
  return {
    isNamedByFlag: apiKeyFileIsFlag,
    read: () => ({ value: readKeyFile(path), origin: path }),
  };
}

/** @param directory folder of the gateway's data, where it is on this machine */
function noKey(server: string, directory: string | undefined): CliError {
  const [where, first] =
    directory === undefined
      ? ['', 'start a gateway here with `gateway start`']
      : [
          `: ${join(directory, 'admin.key')} does not exist`,
          'make one with `gateway store admin-key` (-c names the file of the gateway)',
        ];
  return new CliError({
    code: 'no_api_key',
    message: `no API key for ${server}${where}`,
    hint: `${first}, \`gateway login\`, or set GATEWAY_API_KEY or --api-key-file`,
    exit: 'auth',
  });
}

/** An address in the one form that is compared and stored; exit 64 for an invalid one. */
export function normaliseServer(text: string): string {
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
  return url.origin + url.pathname.replace(/(?<!\/)\/+$/, '');
}

/** True for an address of this machine. */
export function isOwnAddress(server: string): boolean {
  const host = new URL(server).hostname.replace(/^\[|\]$/g, '');
  const own = Object.values(networkInterfaces()).flat();
  return isLoopback(server) || own.some((one) => one?.address === host);
}

/** The server is this machine, whatever networks it is in. */
export function isLoopback(server: string): boolean {
  const { hostname } = new URL(server);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/**
 * The address that a running server wrote down, undefined for none of this machine. The file may come from
 * another user, so it never leads a key to another machine.
 */
export function ownUrlOf({ url }: { readonly url: string }): string | undefined {
  const { protocol = '', username, password } = URL.canParse(url) ? new URL(url) : {};
  const isPlain = /^https?:$/.test(protocol) && !username && !password;
  return isPlain && isOwnAddress(url) ? normaliseServer(url) : undefined;
}

function runningIn(directory: string): string | undefined {
  for (const { record, state } of readRuntimes(directory)) {
    const server = state === 'ended' ? undefined : ownUrlOf(record);
    if (server !== undefined) return server;
  }
  return undefined;
}
