// A guided tour of the built gateway, offline, in a directory of its own.
// Exits 0 when every step did what it says.
import { showAgents } from './demo-agents.js';
import { askWithEveryClient } from './demo-clients.js';
import { showSchedules } from './demo-schedules.js';
import { createStage, expect, STEP_TIMEOUT_MS, tell } from './demo-stage.js';

const STORY =
  'Once there was a program that was stopped in the middle of a sentence, and when it woke it read what it had said so far, began the sentence anew, and nobody who listened missed a word of it.';

const CONFIG = `version: 1
server:
  listen: { port: 0 }
providers:
  - name: healthy
    type: mock
    mock:
      rules:
        - match: { text: story } # a model that takes its time
          reply: { text: "${STORY}", chunks: 40, chunk_delay_ms: 60 }
        - match: { stream: true }
          reply: { chunk_delay_ms: 40 }
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

const stage = createStage();

async function main() {
  tell('One YAML file: two providers, one of them broken, and three models');
  stage.write('gateway.yaml', CONFIG);
  await stage.gateway('validate');

  tell('Start it: no network, no key of any vendor');
  const server = await stage.start();
  const { url } = server;
  console.log(`    listening on ${url}`);
  await stage.gateway('models', 'list');

  tell('Make a key and call a model with it, as any client of the protocol does');
  const key = (await stage.gateway('keys', 'create', 'my-app', '--quiet')).trim();
  const answer = await complete(url, key, 'demo/echo');
  expect(answer.status === 200, `the call answered ${answer.status}`);
  console.log(`    ${answer.body.choices[0].message.content}`);

  tell('Stream an answer');
  await stage.gateway(
    'chat',
    'demo/echo',
    'These words come back one at a time, as they are made.',
  );

  tell('One prompt through four client libraries, onto one model');
  await askAll(url, key, 'demo/echo');

  tell('The same onto a model whose provider speaks only the Messages protocol');
  await askAll(url, key, 'demo/messages-only');
  await stage.gateway('models', 'explain', 'demo/messages-only', '--protocol', 'generate-content');

  tell('Fail over: the first route of demo/failover is down, and the client does not notice');
  await stage.gateway('chat', 'demo/failover', 'Is anybody there?');
  const [record] = JSON.parse(await stage.quietly('logs', '--limit', '1', '-o', 'json')).data;
  for (const { provider, outcome, ms } of record.attempts) {
    console.log(`    asked ${provider}: ${outcome} after ${ms} ms`);
  }
  expect(record.attempts.length === 2, 'the broken provider was not tried first');
  expect(record.answered_by.provider === 'healthy', 'the healthy provider did not answer');

  tell('A key with a spending limit of a hundredth of a cent, and an answer that could cost more');
  const flags = ['--spending-limit', '0.0001', '--quiet'];
  const poor = (await stage.gateway('keys', 'create', 'small-budget', ...flags)).trim();
  const refused = await complete(url, poor, 'demo/echo');
  expect(refused.status === 402, `the limit let it pass with ${refused.status}`);
  console.log(`    HTTP ${refused.status}: ${JSON.stringify(refused.body)}`);

  tell('Who used what, and every request');
  await stage.gateway('usage', '--by', 'key', '--by', 'model');
  await stage.gateway('logs');

  const restarted = await showAgents({ stage, server, key, story: STORY });

  tell('Stop it: open requests are finished first');
  const code = await restarted.end('SIGTERM');
  expect(code === 0, `the gateway ended with ${code}`);

  await showSchedules({ stage, config: CONFIG });
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
  stage.clear();
}
