// A guided tour of the built gateway with real processes, offline, in a directory of its own.
// Exits 0 when every step did what it says.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { askWithEveryClient } from './demo-clients.js';

const BINARY = fileURLToPath(new URL('../bin/gateway.js', import.meta.url));
const STEP_TIMEOUT_MS = 15_000;

const CONFIG = `version: 1
server:
  listen: { port: 0 }
providers:
  - name: healthy
    type: mock
    mock:
      rules: [{ match: { stream: true }, reply: { chunk_delay_ms: 40 } }]
  - name: broken
    type: mock
    mock:
      rules: [{ reply: { status: 503, error: { message: scripted outage } } }]
models:
  - name: demo/echo
    pricing: { input: "1.25", output: "10" } # US dollars per million tokens
    routes: [{ provider: healthy }]
  - name: demo/failover
    pricing: { input: "1.25", output: "10" }
    routes:
      - { provider: broken, upstream_model: echo, priority: 0 }
      - { provider: healthy, upstream_model: echo, priority: 1 }
  - name: demo/messages-only # its provider speaks one protocol; the gateway translates the others
    routes: [{ provider: healthy, upstream_model: echo, protocols: [messages], mapping: translated }]
`;

const directory = mkdtempSync(join(tmpdir(), 'gateway-demo-'));
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('GATEWAY_')),
);
let server;

async function main() {
  tell('One YAML file: two providers, one of them broken, and three models');
  writeFileSync(join(directory, 'gateway.yaml'), CONFIG);
  console.log(CONFIG.replace(/^/gm, '    ').trimEnd());
  await gateway('validate');

  tell('Start it: no network, no key of any vendor');
  const url = await start();
  console.log(`    listening on ${url}`);
  await gateway('models', 'list');

  tell('Make a key and call a model with it, as any client of the protocol does');
  const key = (await gateway('keys', 'create', 'my-app', '--quiet')).trim();
  const answer = await complete(url, key, 'demo/echo');
  expect(answer.status === 200, `the call answered ${answer.status}`);
  console.log(`    ${answer.body.choices[0].message.content}`);

  tell('Stream an answer');
  await gateway('chat', 'demo/echo', 'These words come back one at a time, as they are made.');

  tell('One prompt through four client libraries, onto one model');
  await askAll(url, key, 'demo/echo');

  tell('The same onto a model whose provider speaks only the Messages protocol');
  await askAll(url, key, 'demo/messages-only');
  await gateway('models', 'explain', 'demo/messages-only', '--protocol', 'generate-content');

  tell('Fail over: the first route of demo/failover is down, and the client does not notice');
  await gateway('chat', 'demo/failover', 'Is anybody there?');
  const [record] = JSON.parse(await quietly('logs', '--limit', '1', '-o', 'json')).data;
  for (const { provider, outcome, ms } of record.attempts) {
    console.log(`    asked ${provider}: ${outcome} after ${ms} ms`);
  }
  expect(record.attempts.length === 2, 'the broken provider was not tried first');
  expect(record.answered_by.provider === 'healthy', 'the healthy provider did not answer');

  tell('A key with a spending limit of a hundredth of a cent, and an answer that could cost more');
  const flags = ['--spending-limit', '0.0001', '--quiet'];
  const poor = (await gateway('keys', 'create', 'small-budget', ...flags)).trim();
  const refused = await complete(url, poor, 'demo/echo');
  expect(refused.status === 402, `the limit let it pass with ${refused.status}`);
  console.log(`    HTTP ${refused.status}: ${JSON.stringify(refused.body)}`);

  tell('Who used what, and every request');
  await gateway('usage', '--by', 'key', '--by', 'model');
  await gateway('logs');

  tell('Stop it: open requests are finished first');
  const code = await stop();
  expect(code === 0, `the gateway ended with ${code}`);
  console.log('\nThat was it. Your own: gateway init && gateway start');
}

async function askAll(url, key, model) {
  const prompt = 'Can you hear me?';
  const answers = await askWithEveryClient({ url, key, model, prompt });
  for (const [client, answer] of Object.entries(answers)) {
    console.log(`    ${client.padEnd(32)} ${answer}`);
    expect(answer === `You said: ${prompt}`, `${client} was told: ${answer}`);
  }
}

function tell(text) {
  console.log(`\n── ${text}`);
}

function expect(condition, otherwise) {
  if (!condition) throw new Error(otherwise);
}

/** Runs the command where everybody sees it; gives what it wrote to stdout. */
async function gateway(...words) {
  console.log(
    `    $ gateway ${words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ')}`,
  );
  return run(words, (piece) => process.stdout.write(piece));
}

function quietly(...words) {
  return run(words, () => {});
}

async function run(words, show) {
  const child = spawn(process.execPath, [BINARY, ...words], {
    cwd: directory,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: STEP_TIMEOUT_MS,
  });
  let text = '';
  let atLineStart = true;
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    text += piece;
    // Indented as it arrives, so that a stream is seen to be one.
    show((atLineStart ? '    ' : '') + piece.replace(/\n(?!$)/g, '\n    '));
    atLineStart = piece.endsWith('\n');
  });
  const [code] = await once(child, 'close');
  expect(code === 0, `gateway ${words.join(' ')} ended with ${code}`);
  return text;
}

async function start() {
  server = spawn(process.execPath, [BINARY, 'start'], {
    cwd: directory,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  const { promise, resolve, reject } = withResolvers();
  const timer = setTimeout(() => reject(new Error(`no start in time\n${said}`)), STEP_TIMEOUT_MS);
  server.on('exit', (code) => reject(new Error(`the gateway ended with ${code}\n${said}`)));
  server.stderr.setEncoding('utf8').on('data', (piece) => {
    said += piece;
    const url = /gateway listening on (\S+)\n/.exec(said)?.[1];
    if (url !== undefined) resolve(url);
  });
  return promise.finally(() => clearTimeout(timer));
}

/** Node.js 20 has no Promise.withResolvers. */
function withResolvers() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

async function stop() {
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  const [code] = await ended;
  return code;
}

async function complete(url, key, model) {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }),
    signal: AbortSignal.timeout(STEP_TIMEOUT_MS),
  });
  return { status: answer.status, body: await answer.json() };
}

try {
  await main();
} catch (error) {
  console.error(`\nthe demo failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  server?.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
}
