// A gateway of its own in front of the benchmark's provider, on a store and with as many processes as
// a measurement wants.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { percentile, runLoad } from './load.js';
import { cpuMicros, startServer } from './processes.js';

const MASTER_KEY = 'the-master-key-of-the-benchmark-0';
const ask = (text, stream) =>
  JSON.stringify({ model: 'bench/model', messages: [{ role: 'user', content: text }], stream });
export const PLAIN = ask('hello '.repeat(150), false);
export const STREAM = ask('hello', true);
/** Answered 200 ms later. */
export const SLOW = ask('slowly '.repeat(130), false);

/**
 * @param {{ root: string, directory: string, upstream: { url: string }, store?: object, args?: string[] }} options
 */
export async function startForwarder({ root, directory, upstream, store, args = [] }) {
  mkdirSync(directory, { recursive: true });
  const config = join(directory, 'gateway.yaml');
  const chat = { path: '/chat/completions' };
  const provider = { name: 'bench', type: 'custom', base_url: `${upstream.url}/v1` };
  const content = {
    version: 1,
    server: {
      listen: { port: 0 },
      secrets: { master_key: '${secret:env:MASTER_KEY}' },
      ...(store && { store }),
    },
    providers: [{ ...provider, auth: { type: 'none' }, protocols: { chat } }],
    models: [
      {
        name: 'bench/model',
        pricing: { input: 0.15, output: 0.6 },
        routes: [{ provider: 'bench', upstream_model: 'bench' }],
      },
    ],
  };
  writeFileSync(config, JSON.stringify(content));
  const binary = join(root, 'bin/gateway.js');
  const server = await startServer([binary, 'start', '--config', config, ...args], {
    cwd: directory,
    env: { ...process.env, MASTER_KEY },
  });
  const key = readFileSync(join(directory, '.gateway', 'admin.key'), 'utf8').trim();
  return { ...server, key };
}

/** Closed-loop chat completions; every one must succeed. */
export async function loadChat({ url, key, pid }, { body, connections, ms }) {
  const path = '/v1/chat/completions';
  const before = treeCpuMicros(pid);
  const load = await runLoad({ url, key, path, body, connections, ms });
  if (load.failures > 0) throw new Error(`${load.failures} of ${load.requests} requests failed`);
  return {
    rate: load.requests / load.seconds,
    cpu: (treeCpuMicros(pid) - before) / load.requests,
    firstByte: percentile(load.firstBytes, 0.5),
    firstByte99: percentile(load.firstBytes, 0.99),
  };
}

/** Of the process and those that it started. */
function treeCpuMicros(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return children.reduce(
    (sum, child) => sum + (child === '' ? 0 : treeCpuMicros(child)),
    cpuMicros(pid),
  );
}
