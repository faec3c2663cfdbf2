import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import {
  findProgram,
  startPostgres,
  startRedis,
  type DatabaseServer,
} from '../../store/support/database-server.ts';
import { endWithDriver } from '../../chaos/end-with-driver.ts';
import { SERVERS_SOCKET } from './share-database.ts';
import type { SharedDatabase } from './share-database.ts';

/** More than the files of a run that ask for one. */
const REDIS_DATABASES = ['--databases', '4096'];
/** Nothing that these tests prove outlives the machine. */
const FAST_POSTGRES = ['-F', '-c', 'full_page_writes=off', '-c', 'max_connections=500'];

async function start(driver: string): Promise<DatabaseServer> {
  const server =
    driver === 'redis'
      ? await startRedis(programOf('redis-server'), REDIS_DATABASES)
      : await startPostgres(programOf('postgres'), FAST_POSTGRES);
  endWithDriver(server.process);
  return server;
}

/**
 * One Redis and one PostgreSQL for all files of a run: each starts when the first file asks for it.
 * Every project of the configuration calls this; the first call serves all of them.
 */
export default async function serveDatabases(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[SERVERS_SOCKET] !== undefined) return undefined;
  const servers = new Map<string, Promise<DatabaseServer>>();
  let count = 0;

  async function give(driver: string): Promise<SharedDatabase> {
    if (!servers.has(driver)) servers.set(driver, start(driver));
    const { url } = await servers.get(driver)!;
    const number = ++count;
    const name = `file${number}`;
    if (driver === 'redis') {
      const own = `${url}/${number}`;
      return { url: own, name, options: { url: own, prefix: `${name}:` } };
    }
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    const own = url.replace(/postgres$/, name);
    return { url: own, name, options: { url: own } };
  }

  const directory = await mkdtemp(join(tmpdir(), 'servers-'));
  const path = join(directory, 'socket');
  const door = createServer((socket) => {
    socket.once('data', (driver) => {
      const answer = give(driver.toString());
      void answer
        .catch((error: unknown) => ({ error: String(error) }))
        .then((known) => socket.end(JSON.stringify(known)));
    });
  });
  door.listen(path);
  await once(door, 'listening');
  process.env[SERVERS_SOCKET] = path;
  return async () => {
    delete process.env[SERVERS_SOCKET];
    door.close();
    const started = await Promise.allSettled(servers.values());
    for (const one of started) if (one.status === 'fulfilled') await one.value.stop();
    await rm(directory, { recursive: true, force: true });
  };
}

function programOf(name: string): string {
  const program = findProgram(name);
  if (program === undefined) throw new Error(`${name} is not installed`);
  return program;
}
