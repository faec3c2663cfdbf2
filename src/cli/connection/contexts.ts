import { join } from 'node:path';
import { CliError, usageError } from '../cli-error.ts';
import { configHome, needConfigHome, unwritable } from './config-home.ts';
import type { CliIo } from '../io.ts';
import { readPrivateFile, writePrivateFile } from './private-file.ts';
import { statSeen } from '../output/stat-seen.ts';

/** A server and the key for it, under a name. */
export interface Context {
  readonly name: string;
  readonly server: string;
  /** Organization that the server named at login. */
  readonly organization: string | null;
  readonly keyName: string | null;
  /** Absent after a logout. */
  readonly apiKey: string | null;
  /** True where the key came from a sign-in at the provider and ends with a logout. Default false. */
  readonly isSignIn?: boolean;
}

export interface Contexts {
  /** The name of the one that commands use when none is named. */
  readonly current: string | null;
  readonly list: readonly Context[];
}

/** Context that exists without the file: the gateway of the nearest `.gateway` directory. */
export const LOCAL = 'local';
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const NONE: Contexts = { current: null, list: [] };

/**
 * The contexts of this user. Throws `insecure_key_file` (exit 4) when others may read the file, and
 * `invalid_contexts` when it is not what {@link writeContexts} writes.
 */
export async function readContexts(env: CliIo['env']): Promise<Contexts> {
  const home = configHome(env);
  const path = home && contextsFile(home);
  const text = path && statSeen(path) && readPrivateFile(path);
  if (path === undefined || text === undefined) return NONE;
  // The parser is paid for by those who log in.
  const { parse } = await import('yaml');
  const found = toContexts(orUndefined(() => parse(text)));
  if (found !== undefined) return found;
  throw new CliError({
    code: 'invalid_contexts',
    message: `${path} cannot be read as a list of contexts`,
    hint: 'remove it and log in again',
  });
}

/** Writes the file so that only its owner may read it; resolves to its path. */
export async function writeContexts(env: CliIo['env'], contexts: Contexts): Promise<string> {
  const { stringify } = await import('yaml');
  const path = contextsFile(needConfigHome(env));
  const file = {
    version: 1,
    current: contexts.current,
    contexts: contexts.list.map(({ name, server, organization, keyName, apiKey, isSignIn }) => ({
      name,
      server,
      organization,
      key_name: keyName,
      api_key: apiKey,
      ...(isSignIn && { sso: true }),
    })),
  };
  await writePrivateFile(path, stringify(file)).catch((cause: unknown) => {
    throw unwritable(path, 'XDG_CONFIG_HOME', cause);
  });
  return path;
}

/** Throws `no_context` (exit 64) with the names there are. */
export function findContext({ list }: Contexts, name: string): Context {
  const found = list.find((context) => context.name === name);
  if (found !== undefined) return found;
  const known = list.map((context) => context.name);
  throw new CliError({
    code: 'no_context',
    message: `there is no context ${name}`,
    hint:
      known.length === 0 ? '`gateway login URL` makes one' : `known: ${known.sort().join(', ')}`,
    exit: 'usage',
  });
}

/** Puts this context in place of one of the same name. */
export function withContext({ current, list }: Contexts, context: Context): Contexts {
  const others = list.filter(({ name }) => name !== context.name);
  return { current, list: [...others, context] };
}

/** The name that is given, else one from the address. Exit 64 for what no context can be called. */
export function contextName(given: string | undefined, server: string): string {
  const { host, pathname } = new URL(server);
  const made = (host + pathname).replace(/[^A-Za-z0-9.]+/g, '-').replace(/^-|-$/g, '');
  const name = given ?? made.slice(0, 63);
  if (NAME.test(name) && name !== LOCAL) return name;
  throw usageError(
    `"${name}" is not a valid name for a context`,
    name === LOCAL
      ? 'local is the gateway of the nearest .gateway directory'
      : 'up to 63 letters, digits, dots, dashes and underscores',
  );
}

/** Enough to tell keys apart, too little to use one; as the server shows those it makes. */
export function maskKey(apiKey: string): string {
  return apiKey.length < 24 ? '…' : `${apiKey.slice(0, 6)}…${apiKey.slice(-4)}`;
}

export function contextsFile(home: string): string {
  return join(home, 'contexts.yaml');
}

function toContexts(file: unknown): Contexts | undefined {
  if (!isObject(file) || file['version'] !== 1 || !Array.isArray(file['contexts']))
    return undefined;
  const list = file['contexts'].map(toContext);
  if (!list.every((context) => context !== undefined)) return undefined;
  return { current: textOrNull(file['current']), list };
}

function toContext(entry: unknown): Context | undefined {
  if (!isObject(entry)) return undefined;
  const { name, server } = entry;
  if (typeof name !== 'string' || typeof server !== 'string' || !URL.canParse(server)) {
    return undefined;
  }
  return {
    name,
    server,
    organization: textOrNull(entry['organization']),
    keyName: textOrNull(entry['key_name']),
    apiKey: textOrNull(entry['api_key']),
    ...(entry['sso'] === true && { isSignIn: true }),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A message of the parser would quote the file. */
function orUndefined(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}
