// What an apply of 1,000 objects costs others: chat requests by the clock, idle and while `gateway apply` runs
// against the same gateway, in one run. Once all of them are made, then all of them are changed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { percentile } from './load.js';
import { startOpenLoop } from './open-loop.js';
import { cpuMicros, startServer } from './processes.js';

const PER_SECOND = 200;
const PROVIDERS = 500;
const MODELS = 500;
const WARM_MS = 3_000;

export async function measureApply({ root, directory, ms, upstream, binary = root }) {
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
    rows[`while they are ${title}`] = { ...toRow(busy), ...criterion(idle, busy) };
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
  const providers = Array.from(
    { length: PROVIDERS },
    (_, i) =>
      `  - { name: p${i}, type: custom, base_url: 'http://127.0.0.1:9/v${round}', protocols: { chat: true }, auth: { type: none } }`,
  );
  const models = Array.from(
    { length: MODELS },
    (_, i) =>
      `  - { name: v/m${i}, display_name: Round ${round}, routes: [{ provider: p${i % PROVIDERS}, upstream_model: u }] }`,
  );
  writeFileSync(
    file,
    ['version: 1', 'namespace: bench', 'providers:', ...providers, 'models:', ...models].join('\n'),
  );
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

function toRow({ requests, failures, latencies }) {
  const of = (share) => round2(percentile(latencies, share));
  return { requests, failures, 'p50 ms': of(0.5), 'p99 ms': of(0.99), 'longest ms': of(1) };
}

/** p50 at most 1.3 times idle, p99 at most 1.5 times idle or 15 ms more. */
function criterion(idle, busy) {
  const [p50, p99] = [0.5, 0.99].map((share) => [
    percentile(idle.latencies, share),
    percentile(busy.latencies, share),
  ]);
  const holds = p50[1] <= 1.3 * p50[0] && p99[1] <= Math.max(1.5 * p99[0], p99[0] + 15);
  return { 'p50 / idle': round2(p50[1] / p50[0]), holds: holds && busy.failures === 0 };
}

function round2(value) {
  return Number(value.toFixed(2));
}
