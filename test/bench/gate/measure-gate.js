// `npm run bench -- --gate`: ratios to the minimal proxy, over several starts of both in turn.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { percentile, runLoad } from '../load.js';
import { cpuMicros, memoryMiB, startServer } from '../processes.js';
import { runGate } from './gate.js';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const KEPT = here('ratios.json');
const CONNECTIONS = 64;
const KEY = 'sk-bench-0123456789abcdef0123456789abcdef';
const LIMITED = 'sk-limit-0123456789abcdef0123456789abcdef';
/** Requests after which a side runs as fast as it will. */
const WARM_UP = 60_000;
/** Requests before the resident memory is read for the second time. */
const LOADED = 16_000;

const chat = (text, stream) =>
  JSON.stringify({ model: 'bench/model', messages: [{ role: 'user', content: text }], stream });
const SMALL = chat('hello '.repeat(150), false);
const LOADS = [
  { name: '1 KB', body: SMALL },
  { name: '1 KB with limits', body: SMALL, key: LIMITED },
  { name: '32 KB', body: chat('hello world '.repeat(2700), false) },
  { name: 'stream', body: chat('hello', true) },
  { name: 'one connection', body: SMALL, connections: 1 },
];

/**
 * Gives the exit code.
 *
 * @param {{ root: string, directory: string, upstream: string, ms: number, starts: number, update: boolean }} options
 */
export function measureGate({ starts, update, directory, ...options }) {
  const measure = (start) =>
    measureStart({ ...options, directory: join(directory, `gate-${start}`) });
  return runGate({ measure, starts, update, file: KEPT, say: console.log });
}

/** Both of them from their start on, load by load in turn. */
async function measureStart({ root, directory, upstream, ms }) {
  const proxy = await startServer([here('../minimal-proxy.js'), upstream]);
  const gateway = await startGateway({ root, directory, upstream });
  const sides = { proxy, gateway };
  const figures = { proxy: {}, gateway: {} };
  const put = (side, figure, value) => (figures[side][figure] = value);
  for (const side of ['proxy', 'gateway']) put(side, 'idle RSS', resident(sides[side]));
  for (const side of ['proxy', 'gateway'])
    await send(sides[side], { body: SMALL, requests: WARM_UP });
  for (const load of LOADS) {
    const costs = { proxy: [], gateway: [] };
    // The first of both warms up with the load; what another process took away falls on either alike.
    for (const side of ['proxy', 'gateway', 'proxy', 'gateway', 'proxy', 'gateway']) {
      costs[side].push(await send(sides[side], { ...load, ms }));
    }
    for (const side of ['proxy', 'gateway']) {
      costs[side].shift();
      put(side, `${load.name} CPU`, Math.min(...costs[side].map(({ cpu }) => cpu)));
      if (load.connections === 1)
        put(side, `${load.name} p50`, Math.min(...costs[side].map(({ p50 }) => p50)));
    }
  }
  for (const side of ['proxy', 'gateway']) {
    await send(sides[side], { body: SMALL, requests: LOADED });
    put(side, 'loaded RSS', resident(sides[side]));
  }
  await gateway.stop();
  await proxy.stop();
  return figures;
}

async function send(server, { body, key = KEY, connections = CONNECTIONS, ...bounds }) {
  const before = cpuMicros(server.pid);
  const target = { url: server.url, path: '/v1/chat/completions', key, body, connections };
  const { requests, failures, latencies } = await runLoad({ ...target, ...bounds });
  if (failures > 0) throw new Error(`${failures} of ${requests} requests failed`);
  return { cpu: (cpuMicros(server.pid) - before) / requests, p50: percentile(latencies, 0.5) };
}

function resident({ pid }) {
  const { own, mapped } = memoryMiB(pid);
  return own + mapped;
}

/** The shipped binary with the shipped defaults. */
async function startGateway({ root, directory, upstream }) {
  mkdirSync(directory, { recursive: true });
  const config = join(directory, 'gateway.yaml');
  writeFileSync(
    config,
    `version: 1
server: { listen: { port: 0 }, log: { level: warn } }
providers:
  - { name: bench, type: custom, base_url: ${upstream}/v1, protocols: { chat: { path: /chat/completions } }, auth: { type: none } }
models:
  - name: bench/model
    pricing: { input: 0.15, output: 0.6 }
    routes: [{ provider: bench, upstream_model: bench }]
keys:
  - { name: bench, value: '\${secret:env:BENCH_KEY}' }
  - { name: limited, value: '\${secret:env:LIMITED_KEY}', spending_limit: '1000000', rpm_cap: 100000000 }
`,
  );
  return startServer([join(root, 'bin/gateway.js'), 'start', '--config', config], {
    cwd: directory,
    env: { ...process.env, BENCH_KEY: KEY, LIMITED_KEY: LIMITED },
  });
}
