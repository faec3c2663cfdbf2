// What the families cost beside the forward path, in one run and alternating: translated streams,
// converted embeddings, large images.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { percentile, runLoad } from './load.js';
import { cpuMicros, memoryMiB, startServer } from './processes.js';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const CONNECTIONS = 16;

/** Streams have 100 events, so a hundredth of a request is an event. */
const ask = (model) => ({
  model,
  max_tokens: 100,
  stream: true,
  messages: [{ role: 'user', content: 'hello' }],
});
const vectors = (encoding) => ({
  model: 'bench/vectors',
  input: Array(8).fill('hello'),
  encoding_format: encoding,
});
const STREAMS = [
  { name: 'chat, forwarded', path: '/v1/chat/completions', body: ask('bench/chat') },
  { name: 'messages, forwarded', path: '/v1/messages', body: ask('bench/messages') },
  { name: 'messages client, chat provider', path: '/v1/messages', body: ask('bench/chat') },
  {
    name: 'chat client, messages provider',
    path: '/v1/chat/completions',
    body: ask('bench/messages'),
  },
];
const EMBEDDINGS = [
  { name: 'floats, forwarded', path: '/v1/embeddings', body: vectors('float') },
  { name: 'floats to base64', path: '/v1/embeddings', body: vectors('base64') },
];

/**
 * @param {{ root: string, directory: string, ms: number, rounds: number }} options
 */
export async function measureFamilies({ root, directory, ms, rounds }) {
  const upstream = await startServer([here('families-upstream.js')]);
  const gateway = await startGateway({ root, directory: join(directory, 'families'), upstream });
  await compare('streams of 100 events', STREAMS, { gateway, ms, rounds, events: 100 });
  await compare('embeddings, 8 x 1536', EMBEDDINGS, { gateway, ms, rounds, events: 1 });
  await measureImages(gateway);
  for (const { stop } of [gateway, upstream]) await stop();
}

async function startGateway({ root, directory, upstream }) {
  mkdirSync(directory, { recursive: true });
  const provider = (protocol, path) =>
    `  - { name: ${protocol}, type: custom, base_url: ${upstream.url}/v1, auth: { type: none }, protocols: { ${protocol}: { path: ${path} } } }`;
  const model = (name, type, protocol) =>
    `  - { name: bench/${name}, type: ${type}, pricing: { input: 0.15, output: 0.6 }, routes: [{ provider: ${protocol}, upstream_model: bench }] }`;
  const config = join(directory, 'gateway.yaml');
  writeFileSync(
    config,
    [
      'version: 1',
      'server: { listen: { port: 0 } }',
      'providers:',
      provider('chat', '/chat/completions'),
      provider('messages', '/messages'),
      provider('embeddings', '/embeddings'),
      provider('images', '/images/generations'),
      'models:',
      model('chat', 'llm', 'chat'),
      model('messages', 'llm', 'messages'),
      model('vectors', 'embedding', 'embeddings'),
      model('pictures', 'image', 'images'),
      '',
    ].join('\n'),
  );
  const binary = join(root, 'bin/gateway.js');
  const server = await startServer([binary, 'start', '--config', config], { cwd: directory });
  server.child.stdout.resume();
  server.child.stderr.resume();
  return { ...server, key: readFileSync(join(directory, '.gateway', 'admin.key'), 'utf8').trim() };
}

async function compare(title, scenarios, { gateway, ms, rounds, events }) {
  const cpu = new Map(scenarios.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const { name, path, body } of scenarios) {
      const figure = await measure(gateway, { path, body, ms });
      // The first round warms up.
      if (round >= 0) cpu.get(name).push(figure);
    }
  }
  const base = cpu.get(scenarios[0].name);
  const rows = scenarios.map(({ name }) => {
    const figures = cpu.get(name);
    const ratios = figures.map((figure, i) => figure / base[i]);
    return [
      name,
      {
        'CPU us/request': Math.round(percentile(figures, 0.5)),
        'CPU us/event': Number((percentile(figures, 0.5) / events).toFixed(2)),
        'x forwarded': Number(percentile(ratios, 0.5).toFixed(2)),
      },
    ];
  });
  console.log(`\n${title} (medians of ${rounds} rounds)`);
  console.table(Object.fromEntries(rows));
}

async function measure(gateway, { path, body, ms }) {
  const before = cpuMicros(gateway.pid);
  const load = await runLoad({
    url: gateway.url,
    key: gateway.key,
    path,
    body: JSON.stringify(body),
    connections: CONNECTIONS,
    ms,
  });
  if (load.failures > 0) throw new Error(`${path}: ${load.failures} of ${load.requests} failed`);
  return (cpuMicros(gateway.pid) - before) / load.requests;
}

/** Answers of 10 MB, eight at a time: memory must not grow with their number. */
async function measureImages(gateway) {
  const target = {
    url: gateway.url,
    key: gateway.key,
    path: '/v1/images/generations',
    body: JSON.stringify({ model: 'bench/pictures', prompt: 'hello' }),
    connections: 8,
  };
  const start = memoryMiB(gateway.pid).own;
  await runLoad({ ...target, requests: 80 });
  const early = memoryMiB(gateway.pid).own;
  const load = await runLoad({ ...target, requests: 400 });
  if (load.failures > 0) throw new Error(`images: ${load.failures} failed`);
  const late = memoryMiB(gateway.pid).own;
  const mib = (value) => Math.round(value);
  console.log(
    `\n10 MB images, 8 at a time: memory ${mib(start)} MiB before, ${mib(early)} after 80, ${mib(late)} after 480`,
  );
}
