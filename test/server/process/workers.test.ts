import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { CHAT_PATH, chatBody } from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw, openRaw } from '../../support/raw-client.ts';
import { verifies } from '../../requirements.ts';

const WORDS = 'one word after the other, '.repeat(20);

const CONFIG = {
  server: { drain: '3s' },
  providers: [
    {
      name: 'mock',
      type: 'mock',
      // Counted per process, so each worker says `first` once.
      mock: {
        rules: [
          { match: { attempt: 1 }, reply: { text: 'first' } },
          { match: { stream: true }, reply: { text: WORDS, chunk_delay_ms: 500 } },
        ],
      },
    },
  ],
  models: [{ name: 'acme/echo', routes: [{ provider: 'mock' }] }],
};

const run = promisify(execFile);

async function start(): Promise<TestGateway> {
  const gateway = await startGateway(CONFIG, { binary: true, args: ['--workers', '2'] });
  onTestFinished(async () => void (await gateway.stop()));
  let serving = 0;
  await eventually(async () => {
    const { body } = await askRaw(gateway.url + CHAT_PATH, {
      key: gateway.clientKey,
      body: chatBody('acme/echo'),
    });
    if (body.includes('"first"')) serving++;
    return serving === 2;
  });
  return gateway;
}

/** Begins a stream on a connection of its own; the first word has come. */
function stream({ url, clientKey }: TestGateway): Promise<unknown> {
  return openRaw(`${url}${CHAT_PATH}`, {
    key: clientKey,
    body: chatBody('acme/echo', { stream: true }),
  });
}

async function workersOf({ child }: TestGateway): Promise<number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,stat=']);
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, state = '']) => Number(parent) === child?.pid && !state.startsWith('Z'))
    .map(([pid]) => Number(pid));
}

it('starts workers again after all of them died at once', async () => {
  const gateway = await start();
  const before = await workersOf(gateway);
  for (const pid of before) process.kill(pid, 'SIGKILL');
  await eventually(async () => {
    const now = await workersOf(gateway);
    return now.length === 2 && !now.some((pid) => before.includes(pid));
  });
  expect(await gateway.stop()).toBe(0);
});

it(verifies('ops.shutdown.drain', 'starts no worker for a dead one once it stops'), async () => {
  const gateway = await start();
  // Each keeps its worker busy for as long as the drain lasts, which is longer than a restart takes.
  await Promise.all([stream(gateway), stream(gateway)]);
  const [killed = 0, ...rest] = await workersOf(gateway);
  process.kill(killed, 'SIGKILL');
  await eventually(async () => (await workersOf(gateway)).length === rest.length);
  const started = performance.now();
  expect(await gateway.stop()).toBe(0);
  expect(performance.now() - started).toBeLessThan(8_000);
});

it('a hang-up that reaches the whole process group ends no worker', async () => {
  const gateway = await start();
  const before = await workersOf(gateway);
  for (const pid of [gateway.child?.pid ?? 0, ...before]) process.kill(pid, 'SIGHUP');
  await eventually(() => gateway.log().includes('configuration reloaded'));
  expect(await workersOf(gateway)).toEqual(before);
  expect(gateway.log()).not.toContain('a worker ended');
});
