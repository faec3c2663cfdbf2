import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../store/support/free-port.ts';
import { createCaller } from './caller.ts';
import { openCutProxy } from './cut-proxy.ts';
import { openDatabase } from './database.ts';
import { openDiskQuota } from './disk-quota.ts';
import { createFastTime, createRealTime } from './fast-time.ts';
import { GatewayNode } from './gateway-node.ts';
import { Journal } from './journal.ts';
import type { Random } from './random.ts';
import { CALL_PRICE, heldUpMs, RPM_CAP, SPENDING_LIMIT } from './stage.ts';
import type { LedgerMode, PayingKey, Stage } from './stage.ts';
import { startToolServer } from './tool-server.ts';
import { startUpstream } from './upstream.ts';

export interface StageOptions {
  readonly backend: string;
  readonly processes: number;
  readonly random: Random;
  /** How many times as fast time goes on for the gateways; 1 is the machine's own time. */
  readonly rate: number;
  readonly ledger: LedgerMode;
  /** Workers of each gateway in turn, `[2, 1]` of the first two. Default: none has any. */
  readonly workers?: readonly number[];
}

const HARNESS = fileURLToPath(new URL('programs/harness.js', import.meta.url));
const TOOLS = fileURLToPath(new URL('programs/tools.js', import.meta.url));
const LIMITED_KEYS = 3;

/** Starts everything; undefined where the database is not installed. */
export async function setStage(options: StageOptions): Promise<Stage | undefined> {
  const { backend, processes, random, rate, ledger, workers = [1] } = options;
  const directory = await mkdtemp(join(tmpdir(), `chaos-${backend}-`));
  const isRemote = backend !== 'lmdb';
  const database = isRemote ? await openDatabase(backend) : undefined;
  if (isRemote && !database) return undefined;
  const disk = isRemote ? undefined : await openDiskQuota(join(directory, 'disk'));
  const proxies = database
    ? await Promise.all(Array.from({ length: processes }, () => openCutProxy(database.port)))
    : [];
  const [upstream, tools, time] = [
    await startUpstream(random),
    await startToolServer(),
    rate === 1 ? createRealTime() : createFastTime(rate),
  ];
  const mark = `chaos-of-${directory}`;
  const notes = join(directory, 'notes');
  await writeFile(notes, '');
  const env = { MASTER: 'a-master-key-of-32-characters-00', ...time.environment };
  const nodes: GatewayNode[] = [];
  for (let index = 0; index < processes; index++) {
    const port = await freePort();
    const store = database
      ? { driver: backend, options: database.optionsAt(proxies[index]!.port) }
      : { driver: 'lmdb', path: join(disk?.directory ?? directory, 'store') };
    const base = { directory, notes, mark, upstream: upstream.url, port, store, ledger };
    const config = join(directory, `gateway-${index}.yaml`);
    await writeFile(config, JSON.stringify(configOf(base), null, 2));
    const log = join(directory, `gateway-${index}.log`);
    const crew = workers[index % workers.length] ?? 1;
    const place = { port, config, directory, env, log, workers: crew };
    nodes.push(new GatewayNode({ name: `g${index}`, ...place }));
  }
  await nodes[0]!.start();
  await Promise.all(nodes.slice(1).map((node) => node.start()));
  const journal = new Journal();
  const caller = createCaller({
    onReply: (reply) => journal.replies.push(reply),
    heldUpMs: (call) => heldUpMs({ backend, nodes }, call),
  });
  const admin = (await readFile(join(directory, 'data', 'admin.key'), 'utf8')).trim();
  const keys = await makeKeys(nodes[0]!, admin);
  const parts = {
    backend,
    ledger,
    random,
    time,
    nodes,
    journal,
    upstream,
    tools,
    caller,
    database,
  };
  return {
    ...parts,
    directory,
    notes,
    mark,
    proxies,
    disk,
    keys: { admin, ...keys },
    async stop() {
      await Promise.all(nodes.map((node) => node.kill()));
      await Promise.all(nodes.map((node) => node.findOrphans()));
      caller.close();
      await Promise.all([upstream.close(), tools.close(), ...proxies.map((one) => one.close())]);
      await database?.close();
      await disk?.close();
    },
  };
}

export const removeStage = ({ directory }: Stage): Promise<void> =>
  rm(directory, { recursive: true, force: true, maxRetries: 3 });

interface Base {
  readonly directory: string;
  readonly notes: string;
  readonly mark: string;
  readonly upstream: string;
  readonly port: number;
  readonly store: object;
  readonly ledger: LedgerMode;
}

function configOf({ directory, notes, mark, upstream, port, store, ledger }: Base): object {
  const env = { CHAOS_MARK: mark, CHAOS_NOTES: notes };
  const run = (program: string) => ({ command: process.execPath, args: [program], env });
  const route = (upstream_model: string) => [{ provider: 'upstream', upstream_model }];
  return {
    version: 1,
    server: {
      listen: { host: '127.0.0.1', port },
      data_dir: join(directory, 'data'),
      store,
      drain: '5s',
      secrets: { master_key: '${secret:env:MASTER}' },
      ledger,
      log: { format: 'json', content: true },
      outbound: { allow: ['127.0.0.1'] },
      harnesses: { lines: { ...run(HARNESS), protocol: 'jsonl' } },
      mcp_servers: { tools: run(TOOLS) },
    },
    providers: [
      {
        name: 'upstream',
        type: 'custom',
        base_url: upstream,
        auth: { type: 'none' },
        protocols: { chat: true },
      },
    ],
    models: [
      { name: 'chaos/flat', pricing: { per_call: String(CALL_PRICE) }, routes: route('flat') },
      { name: 'chaos/tokens', pricing: { input: '1', output: '2' }, routes: route('tokens') },
    ],
  };
}

async function makeKeys(node: GatewayNode, admin: string) {
  const make = async (name: string, rest: object = {}): Promise<PayingKey> => {
    const answer = await fetch(`${node.url}/admin/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, ...rest }),
    });
    if (!answer.ok) throw new Error(`no key: ${await answer.text()}`);
    return (await answer.json()) as PayingKey;
  };
  const spending_limit = { lifetime: String(SPENDING_LIMIT) };
  return {
    client: await make('client'),
    rated: await make('rated', { rpm_cap: RPM_CAP }),
    limited: await Promise.all(
      Array.from({ length: LIMITED_KEYS }, (_, index) =>
        make(`limited ${index}`, { spending_limit }),
      ),
    ),
  };
}
