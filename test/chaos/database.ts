import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findProgram } from '../store/support/database-server.ts';
import { freePort } from '../store/support/free-port.ts';
import { endWithDriver } from './end-with-driver.ts';

const run = promisify(execFile);
const START_MS = 60_000;
/** Leftovers of a PostgreSQL that was killed may be in the way for a moment. */
const AGAIN_MS = 200;

/** A database that dies and comes back with the same data, at the same port. */
export interface Database {
  readonly port: number;
  /** Options of `server.store` for whoever reaches it at this port. */
  optionsAt(port: number): Record<string, unknown>;
  /** `asked`: it may end in order; else it is cut down. Resolves when it is gone. */
  end(how: 'asked' | 'killed'): Promise<void>;
  /** Resolves when it answers again. */
  start(): Promise<void>;
  /** Ends it and removes its data. */
  close(): Promise<void>;
}

interface Program {
  readonly command: string;
  args(port: number): string[];
  readonly options?: { uid: number; gid: number } | undefined;
  readonly ending: Readonly<Record<'asked' | 'killed', NodeJS.Signals>>;
  optionsAt(port: number): Record<string, unknown>;
}

/** Undefined where its programs are not installed. */
export async function openDatabase(driver: string): Promise<Database | undefined> {
  const command = findProgram(driver === 'redis' ? 'redis-server' : 'postgres');
  if (command === undefined) return undefined;
  // Of its own, which another user may own.
  const directory = await mkdtemp(join(tmpdir(), `chaos-${driver}-db-`));
  const program =
    driver === 'redis' ? redis(command, directory) : await postgres(command, directory);
  const port = await freePort();
  let child: ChildProcess | undefined;
  const database: Database = {
    port,
    optionsAt: program.optionsAt,
    async end(how) {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill(program.ending[how]);
      await exit;
    },
    async start() {
      for (const deadline = Date.now() + START_MS; Date.now() < deadline; await sleep(AGAIN_MS)) {
        child = spawn(command, program.args(port), {
          stdio: 'ignore',
          cwd: directory,
          ...program.options,
        });
        endWithDriver(child);
        if (await answers(child, port)) return;
      }
      throw new Error(`${driver} does not start again`);
    },
    async close() {
      await database.end('asked');
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
  await database.start();
  return database;
}

function redis(command: string, directory: string): Program {
  const place = ['--dir', directory, '--bind', '127.0.0.1', '--save', ''];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
  return {
    command,
    args: (port) => ['--port', String(port), ...place, ...durable],
    ending: { asked: 'SIGTERM', killed: 'SIGKILL' },
    optionsAt: (port) => ({ url: `redis://127.0.0.1:${port}` }),
  };
}

/** As an unprivileged user where the run is one of root, which `initdb` refuses. */
async function postgres(command: string, directory: string): Promise<Program> {
  const isRoot = process.getuid?.() === 0;
  const [uid = 0, gid = 0] = isRoot
    ? await Promise.all(
        ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, 'postgres'])).stdout)),
      )
    : [];
  const options = isRoot ? { uid, gid } : undefined;
  if (isRoot) await run('chown', ['postgres', directory]);
  await chmod(directory, 0o700);
  const data = join(directory, 'data');
  const setUp = ['-D', data, '-U', 'gateway', '--auth', 'trust', '-E', 'UTF8', '--no-sync'];
  await run(findProgram('initdb') ?? 'initdb', setUp, { ...options, cwd: directory });
  return {
    command,
    // Its processes die, the machine does not: what it wrote to files is there, synced or not.
    args: (port) => ['-F', '-D', data, '-p', String(port), '-k', directory, '-h', '127.0.0.1'],
    options,
    // Fast and immediate: the second ends as after a loss of power and recovers from its log.
    ending: { asked: 'SIGINT', killed: 'SIGQUIT' },
    optionsAt: (port) => ({ url: `postgres://gateway@127.0.0.1:${port}/postgres` }),
  };
}

async function answers(child: ChildProcess, port: number): Promise<boolean> {
  while (child.exitCode === null && child.signalCode === null) {
    if (await canConnect(port)) return true;
    await sleep(50);
  }
  return false;
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(false));
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
