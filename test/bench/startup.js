// What a light command costs over a bare Node process, in CPU and in time, pair by pair.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { percentile } from './load.js';

const RUNS = 40;
const PAGE = { object: 'list', data: [], has_more: false, first_id: null, last_id: null };
const CONFIG = `version: 1
providers: [{ name: mock, type: mock }]
models: [{ name: mock/echo, routes: [{ provider: mock, upstream_model: echo }] }]
`;

export async function measureStartup({ root, directory }) {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...PAGE, next_page: null }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const config = join(directory, 'light.yaml');
  writeFileSync(config, CONFIG);
  const address = `http://127.0.0.1:${server.address().port}`;
  // Further certificates make bare Node.js slower by half, so that every ratio looks better than it is.
  const { NODE_EXTRA_CA_CERTS: _certificates, ...inherited } = process.env;
  const env = { ...inherited, GATEWAY_SERVER: address, GATEWAY_API_KEY: 'light' };
  const sides = [
    { name: 'bare node', args: ['-e', '0'] },
    ...[
      { words: ['--version'], limit: 1.3 },
      { words: ['--help'], limit: 1.3 },
      { words: ['completion', 'bash'], limit: 2.5 },
      { words: ['keys', 'list'], limit: 2.5 },
      { words: ['models', 'list'], limit: 2.5 },
      { words: ['validate', '-f', config], limit: 2.5 },
    ].map(({ words, limit }) => ({
      name: `gateway ${words.slice(0, 2).join(' ')}`,
      args: [join(root, 'bin/gateway.js'), ...words],
      limit,
    })),
  ].map((side) => ({ ...side, runs: [] }));
  for (let run = 0; run <= RUNS; run++)
    for (const { name, args, runs } of sides) {
      const cost = await costOf(args, { cwd: directory, env });
      if (cost.code !== 0) throw new Error(`${name} ended with ${cost.code}`);
      if (run > 0) runs.push(cost);
    }
  server.close();
  print(sides);
}

async function costOf(args, options) {
  const before = childCpu();
  const started = performance.now();
  const child = spawn(process.execPath, args, { ...options, stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  return { code, wall: performance.now() - started, cpu: childCpu() - before };
}

/** Milliseconds of CPU of the children that have ended. */
function childCpu() {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

function print(sides) {
  const [bare] = sides;
  const mean = (runs) => runs.reduce((sum, { cpu }) => sum + cpu, 0) / runs.length;
  const median = (list) => percentile(list, 0.5);
  console.log(`\nlight commands (${RUNS} runs in turn; CPU by the mean, time by the median pair)`);
  console.table(
    Object.fromEntries(
      sides.map(({ name, runs, limit }) => [
        name,
        {
          ms: Number(median(runs.map(({ wall }) => wall)).toFixed(1)),
          'CPU ms': Number(mean(runs).toFixed(1)),
          'time x': Number(median(runs.map(({ wall }, i) => wall / bare.runs[i].wall)).toFixed(2)),
          'CPU x': Number((mean(runs) / mean(bare.runs)).toFixed(2)),
          'at most': limit,
        },
      ]),
    ),
  );
}
