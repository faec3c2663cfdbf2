// The demo's third part: an Agent on a Schedule, on a clock that runs fast, and a chat that is told.
import { createServer } from 'node:http';
import { expect, STEP_TIMEOUT_MS, tell } from './demo-stage.js';

const FAST_CLOCK = new URL('../test/chaos/fast-clock.js', import.meta.url).href;
const SPEED = 20;
const CONFIG = `version: 1
namespace: reports
agents:
  - { name: reporter, model: demo/echo }
deployments:
  - name: report
    agent_id: \${ref:agent.reporter.id}
    schedule: { type: cron, expression: "* * * * *", timezone: Europe/Berlin }
    initial_events:
      - { type: user.message, content: [{ type: text, text: Report! }] }
    notification_settings: { chat_webhook_url: "\${secret:env:CHAT_WEBHOOK_URL}" }
`;
const FIRINGS = 2;

/** @param {{ stage: object, config: string }} scene with the configuration of the gateway so far */
export async function showSchedules({ stage, config }) {
  const chat = await openChat();
  try {
    await fire({ stage, config, chat });
  } finally {
    chat.close();
  }
}

async function fire({ stage, config, chat }) {
  tell('A Schedule in YAML; when it fires, and who is told, is declared with it');
  const own = `server:\n  notifications:\n    webhooks: { demo: { url: ${chat.url}, format: slack } }`;
  stage.write('gateway.yaml', config.replace('server:', own), { isShown: false });
  stage.env.CHAT_WEBHOOK_URL = `${chat.url}/report`;
  stage.write('report.yaml', CONFIG);
  await stage.gateway('deployments', 'next', '* * * * *', '--timezone', 'Europe/Berlin');

  tell('The same gateway on a clock that runs twenty times as fast: a minute takes three seconds');
  const server = await stage.start({
    flags: ['--import', FAST_CLOCK],
    env: { CHAOS_RATE: String(SPEED), CHAOS_ORIGIN: String(Date.now()) },
  });
  await stage.gateway('apply', '-f', 'report.yaml', '--yes', '--quiet');
  const told = await chat.messages(FIRINGS);
  await stage.gateway('deployments', 'pause', 'report');

  tell('What it ran');
  await stage.gateway('runs', 'list');
  const runs = await decidedRuns(stage);
  expect(runs.length >= FIRINGS, `${runs.length} runs`);
  const due = runs.map((run) => run.trigger_context.scheduled_at);
  expect(new Set(due).size === runs.length, `a minute fired twice: ${due.join(', ')}`);
  for (const run of runs) {
    expect(Date.parse(run.trigger_context.scheduled_at) % 60_000 === 0, 'fired between minutes');
  }
  for (const text of told) {
    const [, id] = /^Run: (\S+)$/m.exec(text) ?? [];
    expect(
      runs.some((run) => run.id === id),
      `a run was announced that is none: ${text}`,
    );
  }
  await stage.gateway('sessions', 'tail', runs.at(-1).session_id, '--until-done');
  const code = await server.end('SIGTERM');
  expect(code === 0, `the gateway ended with ${code}`);
}

/** Each with its Session; one may have begun just before the Schedule was paused. */
async function decidedRuns(stage) {
  for (let look = 0; look < 20; look++) {
    const { data } = JSON.parse(await stage.quietly('runs', 'list', '-o', 'json'));
    if (data.every((run) => run.session_id !== null)) return data;
  }
  throw new Error('a run has no Session');
}

/** Takes messages as the bot of a chat does, and shows them. */
async function openChat() {
  const texts = [];
  let onText = () => {};
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { text } = JSON.parse(Buffer.concat(chunks).toString());
      console.log(`    chat: ${text.replaceAll('\n', '\n          ')}`);
      texts.push(text);
      response.end('ok');
      onText();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/bots`,
    messages: (count) =>
      new Promise((resolve, reject) => {
        const overdue = new Error(`the chat was told ${texts.length} times`);
        const timer = setTimeout(() => reject(overdue), STEP_TIMEOUT_MS);
        onText = () => {
          if (texts.length < count) return;
          clearTimeout(timer);
          resolve(texts);
        };
        onText();
      }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
