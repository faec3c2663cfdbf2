// What the store costs: the same gateway on lmdb, Redis and PostgreSQL, and the commits alone. The
// databases are started as the tests start them, durable, on this machine.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';
import { loadChat, PLAIN, startForwarder } from './forwarder.js';
import { runLoad } from './load.js';
import { startServer } from './processes.js';
import { alternate, printSides } from './sides.js';

const BUSY = 64;
const APPENDING = 16;
const note = { type: 'system.message', content: [{ type: 'text', text: 'a word' }] };

/**
 * @param {{ root: string, directory: string, ms: number, rounds: number, only?: string }} options
 */
export async function measureStores({ root, directory, ms, rounds, only = '' }) {
  const databases = await startDatabases();
  const part = only.split('/')[1];
  try {
    if (!part || part === 'gateway')
      await measureGateways({ root, directory, ms, rounds, databases });
    if (!part || part === 'commits')
      await measureCommits({ root, directory, ms, rounds, databases });
  } finally {
    for (const { server } of databases) await server.stop();
  }
}

/** Those that are installed. */
export async function startDatabases() {
  const tests = new URL('../store/support/database-server.ts', import.meta.url).href;
  const { findProgram, startPostgres, startRedis } = await tsImport(tests, import.meta.url);
  const found = [];
  for (const [driver, program, start] of [
    ['redis', 'redis-server', startRedis],
    ['postgres', 'postgres', startPostgres],
  ]) {
    const path = findProgram(program);
    if (path) found.push({ driver, server: await start(path) });
    else console.log(`${program} is not installed, so ${driver} is left out`);
  }
  return found;
}

async function measureGateways({ root, directory, ms, rounds, databases }) {
  const upstream = await startServer([fileURLToPath(new URL('upstream.js', import.meta.url))]);
  const sides = [];
  for (const { driver, store } of [{ driver: 'lmdb' }, ...databases.map(storeOf('gateway'))]) {
    const place = join(directory, `stores-${driver}`);
    const gateway = await startForwarder({ root, directory: place, upstream, store });
    const limited = { ...gateway, key: await newLimitedKey(gateway) };
    sides.push({ name: driver, ...gateway, limited, events: await newSession(gateway) });
  }
  const figures = await alternate(sides, {
    rounds,
    async measure(side) {
      const busy = await loadChat(side, { body: PLAIN, connections: BUSY, ms });
      const busyLimited = await loadChat(side.limited, { body: PLAIN, connections: BUSY, ms });
      const alone = await loadChat(side, { body: PLAIN, connections: 1, ms });
      const direct = await loadChat(upstream, { body: PLAIN, connections: 1, ms });
      return {
        'chat requests/s': busy.rate,
        'chat CPU us': busy.cpu,
        'chat CPU us, with a limit and a rate': busyLimited.cpu,
        'added first byte p50 ms': alone.firstByte - direct.firstByte,
        'added first byte p99 ms': alone.firstByte99 - direct.firstByte99,
        'appends/s': await loadEvents(side, ms),
      };
    },
  });
  printSides('chat 1 KB and events of one Session, by store', figures);
  for (const { stop } of [...sides, upstream]) await stop();
}

/** A key whose limits no load reaches. */
async function newLimitedKey(gateway) {
  const fields = { name: 'limited', spending_limit: '1000000', rpm_cap: 100_000_000 };
  return (await post(gateway, '/admin/v1/keys', fields)).value;
}

/** Gives the path of its events. */
async function newSession(gateway) {
  const agent = await post(gateway, '/v1/agents', { name: 'bench', model: 'bench/model' });
  const session = await post(gateway, '/v1/sessions', { agent: agent.id });
  return `/v1/sessions/${session.id}/events`;
}

async function post({ url, key }, path, body) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function loadEvents({ url, key, events }, ms) {
  const body = JSON.stringify({ events: [note] });
  const load = await runLoad({ url, key, path: events, body, connections: APPENDING, ms });
  if (load.failures > 0) throw new Error(`${load.failures} of ${load.requests} appends failed`);
  return load.requests / load.seconds;
}

async function measureCommits({ root, directory, ms, rounds, databases }) {
  const { openStore, systemClock } = await import(join(root, 'dist/lib/index.js'));
  const configs = [
    { driver: 'lmdb', store: { driver: 'lmdb', path: join(directory, 'commits-lmdb') } },
    ...databases.map(storeOf('commits')),
    {
      driver: 'fs (journal)',
      store: { driver: 'fs', options: { base: join(directory, 'commits-fs') } },
    },
  ];
  const sides = [];
  for (const { driver, store } of configs)
    sides.push({ name: driver, store: await openStore(store, { clock: systemClock }), count: 0 });
  const figures = await alternate(sides, {
    rounds,
    measure: async (side) => ({
      'one at a time, commits/s': await commitRate(side, { writers: 1, ms }),
      '64 at once, commits/s': await commitRate(side, { writers: BUSY, ms }),
    }),
  });
  printSides(
    'commits of two small records (the journal on fs leaves the flush to the system)',
    figures,
  );
  for (const { store } of sides) await store.close();
}

export const storeOf =
  (name) =>
  ({ driver, server }) => {
    const place = driver === 'redis' ? { prefix: `${name}:` } : { schema: name };
    return { driver, store: { driver, options: { url: server.url, ...place } } };
  };

async function commitRate(side, { writers, ms }) {
  const started = performance.now();
  let done = 0;
  const writer = async () => {
    while (performance.now() - started < ms) {
      const n = (side.count += 1);
      const value = { n, text: 'a small record of a hundred and some bytes '.repeat(3) };
      const result = await side.store.commit([
        { type: 'put', key: ['record', n], value, ifAbsent: true },
        { type: 'put', key: ['head', n % writers], value: n },
      ]);
      if (!result.ok) throw new Error('a fresh key was taken');
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
  return (done / (performance.now() - started)) * 1000;
}
