// What an apply of 1,000 objects takes, and what it costs others: chat requests by the clock, idle and while
// `gateway apply` runs against the same gateway, in one run. Once all of them are made, then all of them are
// changed. And what the first start with 1,000 providers and 1,000 models takes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { APPLY_SECONDS, FIRST_START_SECONDS, judgeChat } from './gate/apply-limits.js';
import { percentile } from './load.js';
import { startOpenLoop } from './open-loop.js';
import { cpuMicros, startServer } from './processes.js';

const PER_SECOND = 200;
const PROVIDERS = 500;
const MODELS = 500;
const WARM_MS = 3_000;
const AT_START = 1_000;

export async function measureApply({ root, directory, ms, upstream, binary = root }) {
  await measureFirstStart(binary, directory);
  await measureAlone({ binary, directory, upstream });
  await measureUnderChat({ binary, directory, ms, upstream });
}

/** From the start of the process to its address, which it tells once it serves what its file declares. */
async function measureFirstStart(binary, directory) {
  const place = join(directory, 'first-start');
  mkdirSync(place);
  const config = join(place, 'gateway.yaml');
  const objects = objectsOf({ providers: AT_START, models: AT_START, round: 0 });
  writeFileSync(config, ['version: 1', 'server: { listen: { port: 0 } }', ...objects].join('\n'));
  const started = performance.now();
  const args = [join(binary, 'bin/gateway.js'), 'start', '--config', config];
  const gateway = await startServer(args, { cwd: place });
  const seconds = (performance.now() - started) / 1000;
  const cpu = round2(cpuMicros(gateway.pid) / 1e6);
  console.log(
    `\nfirst start with ${AT_START} providers and ${AT_START} models: ${verdict(seconds, FIRST_START_SECONDS)}, ${cpu} s of CPU`,
  );
  await gateway.stop();
}

/** With nothing else asked of the gateway. */
async function measureAlone({ binary, directory, upstream }) {
  const place = join(directory, 'apply-alone');
  mkdirSync(place);
  const gateway = await startGateway(binary, place, upstream);
  const before = cpuMicros(gateway.pid);
  const seconds = await apply(binary, place, { gateway, round: 0 });
  const cpu = round2((cpuMicros(gateway.pid) - before) / 1e6);
  console.log(
    `apply of ${PROVIDERS + MODELS} new objects alone: ${verdict(seconds, APPLY_SECONDS)}, ${cpu} s of CPU of the gateway`,
  );
  await gateway.stop();
}

function verdict(seconds, limit) {
  return `${round2(seconds)} s (limit ${limit} s: ${told(seconds <= limit)})`;
}

async function measureUnderChat({ binary, directory, ms, upstream }) {
  const place = join(directory, 'apply');
  mkdirSync(place);
  const gateway = await startGateway(binary, place, upstream);
  const probe = () => startOpenLoop({ ...gateway, ...CHAT, perSecond: PER_SECOND });
  await lasting(probe(), WARM_MS);
  const rows = {};
  for (const [round, title] of ['made', 'changed'].entries()) {
    const idle = await lasting(probe(), ms);
    const running = probe();
    const before = cpuMicros(gateway.pid);
    const seconds = await apply(binary, place, { gateway, round });
    const cpu = cpuMicros(gateway.pid) - before;
    const busy = await running.stop();
    rows[`idle before they are ${title}`] = toRow(idle);
    rows[`while they are ${title}`] = { ...toRow(busy), ...judged(idle, busy) };
    const own = cpu / (PROVIDERS + MODELS) / 1000;
    console.log(
      `${title}: ${round2(seconds)} s, ${round2(own)} ms of CPU per object, chat included`,
    );
  }
  console.log(
    `\napply of ${PROVIDERS + MODELS} objects under ${PER_SECOND} chat requests/s, open loop`,
  );
  console.table(rows);
  await gateway.stop();
}

const CHAT = {
  path: '/v1/chat/completions',
  body: JSON.stringify({
    model: 'bench/model',
    messages: [{ role: 'user', content: 'hello '.repeat(150) }],
  }),
};

async function lasting(probe, ms) {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return probe.stop();
}

async function startGateway(root, place, upstream) {
  const config = join(place, 'gateway.yaml');
  writeFileSync(
    config,
    `version: 1
server:
  listen: { port: 0 }
providers:
  - { name: bench, type: custom, base_url: ${upstream}/v1, protocols: { chat: { path: /chat/completions } }, auth: { type: none } }
models:
  - { name: bench/model, routes: [{ provider: bench, upstream_model: bench }] }
`,
  );
  const args = [join(root, 'bin/gateway.js'), 'start', '--config', config];
  const server = await startServer(args, { cwd: place });
  server.child.stdout.resume();
  server.child.stderr.resume();
  const key = readFileSync(join(place, '.gateway', 'admin.key'), 'utf8').trim();
  return { ...server, key };
}

/** Gives the seconds that the command took. */
async function apply(root, place, { gateway, round }) {
  const file = join(place, 'objects.yaml');
  const objects = objectsOf({ providers: PROVIDERS, models: MODELS, round });
  writeFileSync(file, ['version: 1', 'namespace: bench', ...objects].join('\n'));
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [join(root, 'bin/gateway.js'), 'apply', '-f', file, '--yes'],
    {
      cwd: place,
      env: { ...process.env, GATEWAY_URL: gateway.url, GATEWAY_API_KEY: gateway.key },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let told = '';
  child.stderr.on('data', (data) => (told = (told + data).slice(-2_000)));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`apply exited with ${code}\n${told}`);
  return (performance.now() - started) / 1000;
}

/** Lines of a file. */
function objectsOf({ providers, models, round }) {
  const times = (count, line) => Array.from({ length: count }, (_, i) => line(i));
  return [
    'providers:',
    ...times(
      providers,
      (i) =>
        `  - { name: p${i}, type: custom, base_url: 'http://127.0.0.1:9/v${round}', protocols: { chat: true }, auth: { type: none } }`,
    ),
    'models:',
    ...times(
      models,
      (i) =>
        `  - { name: v/m${i}, display_name: Round ${round}, routes: [{ provider: p${i % providers}, upstream_model: u }] }`,
    ),
  ];
}

function toRow({ requests, failures, latencies }) {
  const of = (share) => round2(percentile(latencies, share));
  return { requests, failures, 'p50 ms': of(0.5), 'p99 ms': of(0.99), 'longest ms': of(1) };
}

function judged(idle, busy) {
  const { p50Times, holds } = judgeChat(idle, busy);
  return { 'p50 / idle': round2(p50Times), limits: told(holds) };
}

/** Lets the run end with 1 where a limit is missed. */
function told(holds) {
  if (!holds) process.exitCode = 1;
  return holds ? 'pass' : 'fail';
}

function round2(value) {
  return Number(value.toFixed(2));
}
