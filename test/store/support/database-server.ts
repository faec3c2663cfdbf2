import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

/** A database of the test's own, on its own port and data folder. */
export interface DatabaseServer {
  readonly url: string;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

/** Where Debian and others put what is not on the path. */
const PLACES = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/lib/postgresql/15/bin'];

/**
 * The program, or undefined where it is not installed: then what needs it is left out, which CI does not
 * allow.
 */
export function findProgram(name: string): string | undefined {
  const found = PLACES.map((place) => join(place, name)).find((path) => existsSync(path));
  if (found === undefined && process.env['CI'] === 'true') {
    throw new Error(`${name} is not installed, so what needs it would go untested`);
  }
  return found;
}

export async function startRedis(
  program: string,
  args: readonly string[] = [],
): Promise<DatabaseServer> {
  const directory = await mkdtemp(join(tmpdir(), 'redis-'));
  const port = await freePort();
  const settings = [
    '--port',
    String(port),
    '--dir',
    directory,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
  ];
  const child = spawn(
    program,
    [...settings, '--appendonly', 'yes', '--appendfsync', 'always', ...args],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  await isReady(child, child.stdout, 'Ready to accept connections');
  return {
    url: `redis://127.0.0.1:${port}`,
    process: child,
    stop: () => stop(child, directory),
  };
}

/** As an unprivileged user where the test runs as root, which `initdb` refuses. */
export async function startPostgres(
  program: string,
  settings: readonly string[] = [],
): Promise<DatabaseServer> {
  const directory = await mkdtemp(join(tmpdir(), 'postgres-'));
  const port = await freePort();
  const data = join(directory, 'data');
  const owner = process.getuid?.() === 0 ? await accountOf('postgres') : undefined;
  const initdb = findProgram('initdb') ?? 'initdb';
  if (owner) await run('chown', ['postgres', directory]);
  await chmod(directory, 0o700);
  const setUp = ['-D', data, '-U', 'gateway', '--auth', 'trust', '-E', 'UTF8', '--no-sync'];
  await run(initdb, setUp, { ...owner, cwd: directory });
  const args = ['-D', data, '-p', String(port), '-k', directory, '-h', '127.0.0.1'];
  const child = spawn(program, [...args, ...settings], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...owner,
    cwd: directory,
  });
  await isReady(child, child.stderr, 'ready to accept connections');
  return {
    url: `postgres://gateway@127.0.0.1:${port}/postgres`,
    process: child,
    // Fast: ends the sessions, loses nothing.
    stop: () => stop(child, directory, 'SIGINT'),
  };
}

/** Resolves when the server says these words; rejects when it ends before. */
function isReady(child: ChildProcess, output: Readable, words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    output.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (!said.includes(words)) return;
      output.removeAllListeners('data').resume();
      resolve();
    });
    child.once('exit', () => reject(new Error(`${child.spawnfile} ended: ${said}`)));
  });
}

async function accountOf(name: string): Promise<{ uid: number; gid: number }> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, name])).stdout)),
  );
  return { uid: uid!, gid: gid! };
}

async function stop(
  child: ChildProcess,
  directory: string,
  signal?: NodeJS.Signals,
): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }
  await rm(directory, { recursive: true, force: true });
}
