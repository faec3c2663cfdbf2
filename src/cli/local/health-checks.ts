import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { probeFolder } from '../../core/disk-fault.ts';
import { reasonOf } from '../../core/errors.ts';
import { ROTATE_MASTER_KEY, weaknessOf } from '../../core/weak-key.ts';
import { FILES_PER_CALL, usualConnections } from '../../upstream/places/file-limit.ts';

/** One finding of `gateway doctor`. */
export interface Finding {
  name: string;
  /** `warn` is worth knowing and does not fail the command. */
  state: 'ok' | 'warn' | 'bad';
  message: string;
  hint?: string;
}

/** The oldest Node.js that the gateway runs on. */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const fit = major > 20 || (major === 20 && minor >= 19);
  return fit
    ? { name: 'node', state: 'ok', message: `Node.js ${version}` }
    : {
        name: 'node',
        state: 'bad',
        message: `Node.js ${version} is too old`,
        hint: 'install 20.19 or newer',
      };
}

/** Writes of the embedded store that would leave less are refused. */
const RESERVED_MIB = 64;
/** Less than this is soon used up. */
const LOW_MIB = 1024;

/** The directory exists and takes a file, or could be made, and its disk has room. */
export async function checkDirectory(
  name: string,
  path: string,
  probe: (folder: string) => Promise<number> = probeFolder,
): Promise<Finding> {
  const existing = await nearestExisting(path);
  let free: number;
  try {
    free = Math.floor((await probe(existing)) / (1024 * 1024));
  } catch (error) {
    return { name, state: 'bad', message: reasonOf(error) };
  }
  const state = free < RESERVED_MIB ? 'bad' : free < LOW_MIB ? 'warn' : 'ok';
  const use = existing === path ? 'can be written' : 'will be created by the first start';
  const message = `${path} ${use}; ${free.toLocaleString('en')} MiB are free`;
  const hint = `free some space there: the store writes nothing into the last ${RESERVED_MIB} MiB`;
  return { name, state, message, hint };
}

/** Records of calls that a power cut can lose, by `server.ledger_sync`. */
const LOST = {
  process: 'the calls of the last quarter of a second',
  group: 'the calls of the last few hundredths of a second',
  call: 'no call that was answered',
} as const;
const LOST_BY_DEFAULT =
  'the calls of the last quarter of a second, of those with a spending limit the last few hundredths';

/** Says what a power cut can lose of the ledger; `hasJournal`: the store lets one process keep one. */
export function checkLedger(
  sync: keyof typeof LOST | null,
  { hasJournal, workers }: { hasJournal: boolean; workers: number },
): Finding {
  const name = 'ledger';
  if (!hasJournal || workers > 1) {
    const message = 'every call is acknowledged by the store itself, whatever ledger_sync says';
    return { name, state: 'ok', message };
  }
  const set = sync === null ? 'ledger_sync is not set' : `ledger_sync: ${sync}`;
  const lost = sync === null ? LOST_BY_DEFAULT : LOST[sync];
  return { name, state: 'ok', message: `${set}: a power cut can lose ${lost}` };
}

/** Finding where others than the owner may read a file that holds a key. */
export async function checkKeyFile(path: string): Promise<Finding | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return undefined;
  if (process.platform === 'win32' || (stats.mode & 0o077) === 0) {
    return { name: 'key file', state: 'ok', message: `${path} is private` };
  }
  const message = `${path} can be read by others on this machine`;
  return { name: 'key file', state: 'bad', message, hint: `chmod 600 ${path}` };
}

/** Finding where a gateway has run with this data directory and no admin key is in it. */
export async function checkAdminKey(dataDir: string): Promise<Finding | undefined> {
  const exists = (name: string): Promise<boolean> =>
    stat(join(dataDir, name)).then(
      () => true,
      () => false,
    );
  const traces = await Promise.all(['store', 'master.key', 'runtime.json'].map(exists));
  if (!traces.includes(true) || (await exists('admin.key'))) return undefined;
  return {
    name: 'admin key',
    state: 'warn',
    message: `${join(dataDir, 'admin.key')} does not exist`,
    hint: '`gateway store admin-key` makes one (-c names the file of the gateway)',
  };
}

/** Finding about a master key that comes from the configuration or its file. */
export function checkMasterKey(key: string): Finding {
  const name = 'master key';
  const weakness = weaknessOf(key);
  if (weakness === undefined) return { name, state: 'ok', message: 'it is long and varied' };
  const message = `it is easy to guess: ${weakness}`;
  return { name, state: 'warn', message, hint: ROTATE_MASTER_KEY };
}

/** Nothing listens on the port, so that a start would succeed. */
export async function checkPort(host: string, port: number): Promise<Finding> {
  if (port === 0) return { name: 'port', state: 'ok', message: 'the system picks a free port' };
  const reason = await tryToListen(host, port);
  if (reason === undefined)
    return { name: 'port', state: 'ok', message: `${host}:${port} is free` };
  const taken = reason === 'EADDRINUSE';
  return {
    name: 'port',
    state: 'bad',
    message: taken
      ? `${host}:${port} is taken by another program`
      : `${host}:${port} cannot be bound (${reason})`,
    hint: taken
      ? `\`ss -ltnp 'sport = :${port}'\` shows which; set server.listen.port to another where it is to stay`
      : 'check server.listen',
  };
}

/**
 * Every connection to a provider needs a file, and so does the client that waits for it.
 *
 * @param set connections by provider or API, where they are set
 * @param files that a process of the gateway may have open
 */
export function checkFileLimit(set: readonly number[], files: number | undefined): Finding {
  const name = 'open files';
  const sum = set.reduce((one, other) => one + other, 0);
  const usual = usualConnections(files);
  const limit = files === undefined ? 'unknown' : String(files);
  const message = `the limit is ${limit}; a provider that sets no connections gets ${usual}`;
  const needed = sum * FILES_PER_CALL;
  if (files === undefined || files >= needed) return { name, state: 'ok', message };
  return {
    name,
    state: 'bad',
    message: `the limit is ${limit}, too low for the ${sum} connections that are set: these and their clients need ${needed}`,
    hint: 'raise it (ulimit -n, LimitNOFILE= of systemd), or lower `connections` of providers and APIs',
  };
}

async function nearestExisting(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const found = await stat(at).then(
      () => true,
      () => false,
    );
    if (found || dirname(at) === at) return at;
  }
}

/** The system's error code, or undefined when the address could be bound. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
