// `npm run bench`: the gateway beside the provider alone and beside a minimal Node proxy, in one run and
// alternating, because on a shared machine only ratios of one run mean something. Bounded to minutes.
// Options: --seconds N (per measurement), --rounds N,
// --only non-stream|stream|prompt|families|cli-light|memory|apply|stall|sessions|schedules|workers|stores|console, or
// sessions/goals|latency|turns, console/feed|pages|queries, stores/commits, stall/bytes and the like,
// --against DIR (sessions: another built checkout, measured in turn with this one; apply, stall: in its place),
// --gate [--update] [--starts N] (ratios to the minimal proxy against those that are kept; see docs/measured.md),
// --records N (console/queries: on each store),
// --profile DIR (sessions, schedules: CPU profiles of the gateways are left there)
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureApply } from './apply.js';
import { measureConsole } from './console.js';
import { measureFamilies } from './families.js';
import { measureGate } from './gate/measure-gate.js';
import { percentile, runLoad } from './load.js';
import { cpuMicros, memoryMiB, startServer } from './processes.js';
import { measureSchedules } from './schedules.js';
import { measureSessions } from './sessions.js';
import { reportGoals } from './sessions/report.js';
import { measureStalls } from './stall.js';
import { measureStartup } from './startup.js';
import { measureStores } from './stores.js';
import { measureWorkers } from './workers/measure-workers.js';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const root = here('../..');
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    records: { type: 'string', default: '1000000' },
    against: { type: 'string' },
    profile: { type: 'string' },
    gate: { type: 'boolean', default: false },
    update: { type: 'boolean', default: false },
    starts: { type: 'string', default: '5' },
  },
});
const ms = Number(options.seconds) * 1000;
const rounds = Number(options.rounds);
/** Enough to keep every target busy; with one connection the added time is measured. */
const CONNECTIONS = 64;

const chat = (text, stream) =>
  JSON.stringify({ model: 'bench/model', messages: [{ role: 'user', content: text }], stream });
const SCENARIOS = [
  { name: 'non-stream', title: 'non-stream, 1 KB', body: chat('hello '.repeat(150), false) },
  { name: 'stream', title: 'stream of 100 chunks', body: chat('hello', true) },
  {
    name: 'prompt',
    title: 'non-stream, 32 KB prompt',
    body: chat('hello world '.repeat(2700), false),
  },
].filter(({ name }) => !options.only || options.only === name);

const directory = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

const upstream = await startServer([here('upstream.js')]);
if (options.gate) {
  const { update, starts } = options;
  const gate = { root, directory, upstream: upstream.url, ms, starts: Number(starts), update };
  process.exit(await measureGate(gate));
}
const proxy = await startServer([here('minimal-proxy.js'), upstream.url]);
const gateway = await startGateway();
const targets = [
  { name: 'provider', url: upstream.url, path: '/v1/chat/completions', server: undefined },
  { name: 'minimal proxy', url: proxy.url, path: '/v1/chat/completions', server: proxy },
  {
    name: 'gateway',
    url: gateway.url,
    path: '/v1/chat/completions',
    key: gateway.key,
    server: gateway,
  },
];

for (const scenario of SCENARIOS) await compare(scenario);
if (!options.only || options.only === 'families')
  await measureFamilies({ root, directory, ms, rounds });
if (!options.only || options.only === 'memory') await measureMemory();
if (!options.only || options.only === 'apply')
  await measureApply({ root, directory, ms, upstream: upstream.url, binary: options.against });
if (!options.only || options.only.startsWith('stall'))
  await measureStalls({ root, directory, only: options.only, binary: options.against });
const figures = {};
if (!options.only || options.only.startsWith('sessions'))
  Object.assign(figures, await measureSessions({ root, directory, ms, rounds, ...options }));
if (!options.only || ['schedules', 'sessions', 'sessions/goals'].includes(options.only))
  Object.assign(figures, await measureSchedules({ root, directory, ...options }));
if (Object.keys(figures).length > 0) {
  console.log('\nSessions and Schedules, what they are to reach');
  console.table(reportGoals(figures));
}
if (!options.only || options.only === 'workers')
  await measureWorkers({ root, directory, ms, rounds });
if (!options.only || options.only.startsWith('stores'))
  await measureStores({ root, directory, ms, rounds, only: options.only });
if (!options.only || options.only.startsWith('console'))
  await measureConsole({
    root,
    directory,
    ms,
    rounds,
    only: options.only,
    records: Number(options.records),
  });
if (!options.only || options.only === 'cli-light') await measureStartup({ root, directory });
for (const { stop } of [gateway, proxy, upstream]) await stop();

/** The shipped binary with the shipped defaults; only the provider is the benchmark's own. */
async function startGateway() {
  const config = join(directory, 'gateway.yaml');
  writeFileSync(
    config,
    `version: 1
server:
  listen: { port: 0 }
providers:
  - { name: bench, type: custom, base_url: ${upstream.url}/v1, protocols: { chat: { path: /chat/completions } }, auth: { type: none } }
models:
  - name: bench/model
    pricing: { input: 0.15, output: 0.6 }
    routes: [{ provider: bench, upstream_model: bench }]
`,
  );
  const server = await startServer([join(root, 'bin/gateway.js'), 'start', '--config', config], {
    cwd: directory,
  });
  server.child.stdout.resume();
  server.child.stderr.resume();
  return { ...server, key: readFileSync(join(directory, '.gateway', 'admin.key'), 'utf8').trim() };
}

async function measure(target, scenario, connections) {
  const before = target.server ? cpuMicros(target.server.pid) : 0;
  const load = await runLoad({ ...target, body: scenario.body, connections, ms });
  if (load.failures > 0)
    throw new Error(`${target.name}: ${load.failures} of ${load.requests} requests failed`);
  return {
    rps: load.requests / load.seconds,
    p50: percentile(load.latencies, 0.5),
    p99: percentile(load.latencies, 0.99),
    firstByte: percentile(load.firstBytes, 0.5),
    firstByte99: percentile(load.firstBytes, 0.99),
    cpu: target.server ? (cpuMicros(target.server.pid) - before) / load.requests : Number.NaN,
  };
}

async function compare(scenario) {
  const rows = new Map(targets.map(({ name }) => [name, { busy: [], alone: [] }]));
  for (const target of targets)
    await runLoad({ ...target, body: scenario.body, connections: 16, ms: 1000 });
  for (let round = 0; round < rounds; round++) {
    for (const target of targets) {
      rows.get(target.name).busy.push(await measure(target, scenario, CONNECTIONS));
      rows.get(target.name).alone.push(await measure(target, scenario, 1));
    }
  }
  print(scenario, rows);
}

function print({ title }, rows) {
  const median = (list, figure) =>
    percentile(
      list.map((one) => one[figure]),
      0.5,
    );
  const direct = rows.get('provider');
  console.log(`\n${title} (medians of ${rounds} rounds)`);
  console.table(
    Object.fromEntries(
      [...rows].map(([name, { busy, alone }]) => [
        name,
        {
          'requests/s': Math.round(median(busy, 'rps')),
          'CPU us/request': Math.round(median(busy, 'cpu')),
          'p99 ms (busy)': round(median(busy, 'p99')),
          'added p50 ms (1 connection)': round(median(alone, 'p50') - median(direct.alone, 'p50')),
          'added p99 ms': round(median(alone, 'p99') - median(direct.alone, 'p99')),
          'added first byte p50 ms': round(
            median(alone, 'firstByte') - median(direct.alone, 'firstByte'),
          ),
          'added first byte p99 ms': round(
            median(alone, 'firstByte99') - median(direct.alone, 'firstByte99'),
          ),
        },
      ]),
    ),
  );
  const ratios = rows
    .get('gateway')
    .busy.map(({ rps }, i) => rps / rows.get('minimal proxy').busy[i].rps);
  const cpu = rows
    .get('gateway')
    .busy.map((one, i) => one.cpu / rows.get('minimal proxy').busy[i].cpu);
  console.log(
    `gateway / minimal proxy: throughput ${round(percentile(ratios, 0.5))}, CPU ${round(percentile(cpu, 0.5))}`,
  );
}

async function measureMemory() {
  const body = SCENARIOS[0]?.body ?? chat('hello', false);
  const target = targets[2];
  await runLoad({ ...target, body, connections: CONNECTIONS, requests: 50_000 });
  const warm = memoryMiB(gateway.pid);
  await runLoad({ ...target, body, connections: CONNECTIONS, requests: 100_000 });
  const after = memoryMiB(gateway.pid);
  console.log(
    `\nresident memory after 50,000 requests and after 100,000 more: own ${round(warm.own)} and ${round(after.own)} MiB ` +
      `(x ${round(after.own / warm.own)}), mapped store file ${round(warm.mapped)} and ${round(after.mapped)} MiB`,
  );
}

function round(value) {
  return Number(value.toFixed(3));
}
