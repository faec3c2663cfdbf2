// What one client's largest legal and illegal inputs, and providers' largest answers, cost everybody
// else: an open-loop probe runs beside each.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faultsOfWaits, judgeWaits, LONGEST_MS, P99_MS } from './gate/waits.js';
import { memoryMiB, startServer } from './processes.js';
import { largeBody, operationsWithBodies } from './stall-paths.js';
import { startProbes } from './stall-probe.js';

const MIB = 1024 * 1024;
const IDLE_MS = 3000;
/** An input that is over sooner is sent again: a p99 needs some hundred requests of others. */
const LEAST_MS = 3000;
/** Of each probe. */
const PER_SECOND = 50;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * @param {{ root: string, directory: string, only?: string, binary?: string }} options `only`: `stall`, or
 *   `stall/` and a part of the name of an input
 */
export async function measureStalls({ root, directory, only = 'stall', binary = root }) {
  const upstream = await startServer([here('stall-upstream.js')]);
  // The probes have a provider of their own: the other is busy with large answers.
  const idle = await startServer([here('stall-upstream.js')]);
  const place = join(directory, 'stall');
  const gateway = await startGateway({ root: binary, directory: place, upstream, idle });
  const { url, key } = gateway;
  const body = JSON.stringify({ model: 'probe/small', messages: [say('hi')] });
  const probes = startProbes([
    { url, path: '/healthz', method: 'GET', perSecond: PER_SECOND },
    { url, path: '/v1/chat/completions', key, body, perSecond: PER_SECOND },
  ]);
  probes.start();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  await probes.stop();
  const rows = {};
  const waits = {};
  const part = only.slice('stall/'.length);
  const all = { ...inputs(gateway), ...(await inputsOfPaths(gateway)) };
  for (const [name, send] of Object.entries(all)) {
    if (!name.includes(part)) continue;
    probes.start();
    const started = performance.now();
    let answer;
    let sent = 0;
    do {
      answer = await send();
      sent++;
    } while (performance.now() - started < LEAST_MS);
    const seconds = (performance.now() - started) / 1000 / sent;
    const probed = await probes.stop();
    const { requests, failures } = probed;
    const judged = judgeWaits(probed);
    const { longest, p99, holds } = judged;
    waits[name] = judged;
    rows[name] = {
      answer,
      sent,
      seconds: round(seconds),
      requests,
      failures,
      'p99 ms': round(p99),
      'longest ms': round(longest),
      'own MiB': Math.round(memoryMiB(gateway.pid).own),
      holds,
    };
  }
  console.log(
    `\nwaits of ${2 * PER_SECOND} requests/s of others beside one input, open loop (to reach: longest ${LONGEST_MS} ms, p99 ${P99_MS} ms)`,
  );
  console.table(rows);
  const faults = faultsOfWaits(waits);
  for (const fault of faults) console.log(fault);
  if (faults.length > 0) process.exitCode = 1;
  probes.end();
  await gateway.stop();
  for (const { stop } of [upstream, idle]) await stop();
}

const say = (content) => ({ role: 'user', content });

/** Each resolves with what it was answered. */
function inputs({ url, key }) {
  const post = (path, body, chunks) => send({ url, key, path, body, chunks });
  const ask = (model, more = '') =>
    post(
      '/v1/chat/completions',
      `{"model":"${model}","messages":[{"role":"user","content":"hi"}]${more}}`,
    );
  const many = (count, value) => `,"x":[${`${value},`.repeat(count - 1)}${value}]`;
  const long = JSON.stringify('x'.repeat(30 * MIB));
  const prompt = (model) => `{"model":"${model}","messages":[{"role":"user","content":${long}}]}`;
  const bytes = (model) => JSON.stringify({ model, messages: [say('x'.repeat(5 * MIB))] });
  const members = Array.from({ length: 2_000_000 }, (_, i) => `"k${i}":1`).join(',');
  const messages = Array.from({ length: 900_000 }, () => '{"role":"user","content":"a"}').join(',');
  const tiny = `{"name":"a","model":"forward/small","x":[${'{},'.repeat(8_000_000)}{}]}`;
  return {
    idle: () => new Promise((resolve) => setTimeout(resolve, IDLE_MS, '')),
    '9 million objects': () => ask('forward/small', many(9_000_000, '{}')),
    'the same ten times': () => times(10, () => ask('forward/small', many(9_000_000, '{}'))),
    '15 million integers': () => ask('forward/small', many(15_000_000, '1')),
    '2 million members': () => ask('forward/small', `,"x":{${members}}`),
    '249,000 objects': () => ask('forward/small', many(249_000, '{}')),
    '249,000 objects, translated': () => ask('translate/small', many(249_000, '{}')),
    '900,000 messages, translated': () =>
      post('/v1/chat/completions', `{"model":"translate/small","messages":[${messages}]}`),
    '60,000 messages, translated': () =>
      post(
        '/v1/chat/completions',
        `{"model":"translate/small","messages":[${messages.slice(0, 60_000 * 30 - 1)}]}`,
      ),
    'prompt of 30 MiB': () => post('/v1/chat/completions', prompt('forward/small')),
    'prompt of 30 MiB, translated': () => post('/v1/chat/completions', prompt('translate/small')),
    '5 MiB in one-byte chunks, 30 MiB as sent': () =>
      post('/v1/chat/completions', bytes('forward/small'), 'bytes'),
    'the same for a path that is not there': () =>
      post('/v1/nowhere', bytes('forward/small'), 'bytes'),
    '8 million objects for an agent': () => post('/v1/agents', tiny),
    '8 million objects for a model': () => post('/admin/v1/models', tiny),
    'events of 22 MiB, written': () => writeEvents({ url, key }),
    'events of 22 MiB, read by eight': () => readEvents({ url, key }),
    'answer of 15 million integers': () => ask('forward/integers'),
    'answer of 10 million objects': () => ask('forward/objects'),
    'answer of 1,900,000 objects, translated': () => ask('translate/values'),
    'answer of 16,000 logprobs, translated': () => ask('translate/logprobs'),
    'answer of 10 million objects, translated': () => ask('translate/objects'),
    'answer of 30 MiB text': () => ask('forward/text'),
    'answer of 30 MiB text, translated': () => ask('translate/text'),
    'ten answers of 30 MiB text': () => times(10, () => ask('forward/text')),
    'ten prompts of 30 MiB': () => {
      const text = prompt('forward/small');
      return times(10, () => post('/v1/chat/completions', text));
    },
    'answer of 30 MiB in bytes': () => ask('forward/bytes'),
    'answer of 30 MiB in bytes, translated': () => ask('translate/bytes'),
  };
}

/** Large bodies for every operation that may take one; those of a handler follow each other in one input. */
async function inputsOfPaths({ url, key }) {
  const paths = ['/openapi.json', '/admin/openapi.json'];
  const read = async (path) => JSON.parse(await send({ url, key, path, whole: true }));
  const operations = operationsWithBodies(await Promise.all(paths.map(read)));
  const lists = {
    integers: () => `[${'1,'.repeat(15_000_000)}1]`,
    objects: () => `[${'{},'.repeat(9_000_000)}{}]`,
  };
  const groups = [...new Set(operations.map(({ group }) => group))];
  const rows = groups.flatMap((group) =>
    Object.entries(lists).map(([what, list]) => {
      const ofGroup = operations.filter((one) => one.group === group);
      const post = async () => {
        const values = list();
        const answers = [];
        for (const { method, path, members } of ofGroup) {
          const body = largeBody(members, values);
          answers.push(await send({ url, key, method, path, body }));
        }
        return [...new Set(answers)].join(' ');
      };
      return [`${what} for ${group}`, post];
    }),
  );
  return Object.fromEntries(rows);
}

async function times(count, send) {
  const answers = await Promise.all(Array.from({ length: count }, send));
  return [...new Set(answers)].join(' ');
}

let session;

async function writeEvents({ url, key }) {
  const json = (path, body) => send({ url, key, path, body: JSON.stringify(body), whole: true });
  const agent = JSON.parse(await json('/v1/agents', { name: 'stall', model: 'forward/small' }));
  session = JSON.parse(await json('/v1/sessions', { agent: agent.id })).id;
  const message = {
    type: 'system.message',
    content: [{ type: 'text', text: 'x'.repeat(110 * 1024) }],
  };
  const body = JSON.stringify({ events: Array.from({ length: 100 }, () => message) });
  await send({ url, key, path: `/v1/sessions/${session}/events`, body });
  return send({ url, key, path: `/v1/sessions/${session}/events`, body });
}

async function readEvents({ url, key }) {
  const read = async () => {
    let count = 0;
    for (let page = ''; page !== undefined;) {
      const path = `/v1/sessions/${session}/events?limit=1000${page}`;
      const { data, next_page: next } = JSON.parse(await send({ url, key, path, whole: true }));
      count += data.length;
      page = next ? `&page=${encodeURIComponent(next)}` : undefined;
    }
    return count;
  };
  return times(8, read);
}

/** Resolves with the status, or with the body where it is wanted. */
function send({ url, key, path, body, chunks, method = 'POST', whole = false }) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = request(
      new URL(path, url),
      { method: body === undefined ? 'GET' : method, headers, agent: false },
      (response) => {
        const parts = [];
        response.on('data', (part) => whole && parts.push(part));
        response.on('end', () =>
          resolve(whole ? Buffer.concat(parts).toString() : String(response.statusCode)),
        );
        response.on('error', (error) => resolve(`${response.statusCode} ${error.code}`));
      },
    );
    sent.on('error', (error) => (whole ? reject(error) : resolve(error.code)));
    if (chunks === 'bytes') inBytes(sent, body);
    else sent.end(body);
  });
}

/** Every byte a chunk of its own, as large a piece at once as the socket takes. */
function inBytes(sent, body) {
  sent.setHeader('transfer-encoding', 'chunked');
  sent.flushHeaders();
  sent.on('socket', (socket) => {
    let at = 0;
    const write = () => {
      while (at < body.length) {
        const part = body.slice(at, (at += 8192));
        if (!socket.write(part.replace(/./gs, '1\r\n$&\r\n'))) {
          socket.once('drain', write);
          return;
        }
      }
      socket.write('0\r\n\r\n');
    };
    socket.once('connect', write);
  });
}

async function startGateway({ root, directory, upstream, idle }) {
  mkdirSync(directory, { recursive: true });
  const config = join(directory, 'gateway.yaml');
  const provider = (name, { url }, protocols) => ({
    name,
    type: 'custom',
    base_url: `${url}/v1`,
    protocols,
    auth: { type: 'none' },
  });
  const chat = { chat: { path: '/chat/completions' } };
  const pricing = { input: 1, output: 1 };
  const modes = ['small', 'integers', 'objects', 'values', 'logprobs', 'text', 'bytes'];
  const route = (name, provider) =>
    modes.map((mode) => ({
      name: `${name}/${mode}`,
      pricing,
      routes: [{ provider, upstream_model: mode }],
    }));
  const content = {
    version: 1,
    server: { listen: { port: 0 }, log: { level: 'warn' } },
    providers: [
      provider('probe', idle, chat),
      provider('chat', upstream, chat),
      provider('responses', upstream, { responses: { path: '/responses' } }),
    ],
    models: [
      ...route('probe', 'probe'),
      ...route('forward', 'chat'),
      ...route('translate', 'responses'),
    ],
  };
  writeFileSync(config, JSON.stringify(content));
  const binary = join(root, 'bin/gateway.js');
  const server = await startServer([binary, 'start', '--config', config], { cwd: directory });
  server.child.stdout.resume();
  server.child.stderr.resume();
  return { ...server, key: readFileSync(join(directory, '.gateway', 'admin.key'), 'utf8').trim() };
}

function round(value) {
  return Number(value.toPrecision(3));
}
