import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { ProcessPlace } from '../../../src/core/liveness.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { CHAT_PATH, chatBody } from '../../support/chat.ts';
import { eventually, startGateway, writeConfig } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { childrenOf } from '../../support/process/children-of.ts';
import { askRaw, openRaw } from '../../support/raw-client.ts';
import { freePort } from '../../store/support/free-port.ts';
import { verifies } from '../../requirements.ts';

const WORDS = 'one word after the other, '.repeat(20);

/** While no worker lives nothing holds the port, so it is none that the system gives to others. */
const LISTEN = { host: '127.0.0.1', port: await freePort() };
const CONFIG = {
  server: {
    drain: '3s',
    listen: LISTEN,
    metrics: { listen: { host: '127.0.0.1', port: 0 } },
  },
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

/** A signal that means nothing to the gateway makes a fault of no request. */
const HOOK = `process.on('SIGWINCH', () => setImmediate(() => { throw new Error('it broke'); }))`;
const TWO = {
  binary: true,
  args: ['--workers', '2'],
  env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(HOOK)}` },
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(CONFIG, TWO);
  await firstCalls(2);
});
afterAll(() => gateway.stop());

/** So many workers, which took no call before, serve. */
async function firstCalls(count: number): Promise<void> {
  let serving = 0;
  await eventually(async () => {
    // While none serves the port refuses.
    if (await isFirst(gateway).catch(() => false)) serving++;
    return serving === count;
  });
}

/** Makes a call; true when it is the first one of a worker. */
async function isFirst({ url, clientKey }: TestGateway): Promise<boolean> {
  const { body } = await askRaw(url + CHAT_PATH, { key: clientKey, body: chatBody('acme/echo') });
  return body.includes('"first"');
}

/** Begins a stream on a connection of its own; the first word has come. */
function stream({ url, clientKey }: TestGateway): Promise<unknown> {
  return openRaw(`${url}${CHAT_PATH}`, {
    key: clientKey,
    body: chatBody('acme/echo', { stream: true }),
  });
}

const workersOf = ({ child }: TestGateway): Promise<number[]> => childrenOf(child?.pid);

it('a hang-up that reaches the whole process group ends no worker', async () => {
  const before = await workersOf(gateway);
  for (const pid of [gateway.child?.pid ?? 0, ...before]) process.kill(pid, 'SIGHUP');
  await eventually(() => gateway.log().includes('configuration reloaded'));
  expect(await workersOf(gateway)).toEqual(before);
  expect(gateway.log()).not.toContain('a worker ended');
});

it(
  verifies('ops.shutdown.drain', 'do the work alone, which their first process leaves'),
  async () => {
    const path = join(gateway.directory, '.gateway', 'store');
    const store = await openStore({ driver: 'lmdb', path, options: {} }, { clock: systemClock });
    onTestFinished(() => store.close());
    const takers = async (): Promise<number[]> => {
      const rows = await store.list<ProcessPlace>({ prefix: ['job-worker'], limit: 10 });
      return rows.map(({ value }) => value.pid).sort((a, b) => a - b);
    };
    const workers = await workersOf(gateway);
    await eventually(async () => {
      const found = await takers();
      return workers.every((pid) => found.includes(pid));
    });
    expect(await takers()).toEqual(workers);
  },
);

it('count on while one is stopped, where all died at once, and where others replace them', async () => {
  const [, url = ''] = /metrics on (\S+)/.exec(gateway.log()) ?? [];
  const count = async (): Promise<number> => {
    const response = await fetch(url);
    expect(response.status).toBe(200);
    const found = (await response.text()).matchAll(/^gateway_requests_total\{.*\} (\d+)$/gm);
    return Array.from(found, ([, value]) => Number(value)).reduce((sum, one) => sum + one, 0);
  };
  const counted = await count();
  expect(counted).toBeGreaterThanOrEqual(2);
  const before = await workersOf(gateway);
  const [stopped = 0] = before;
  process.kill(stopped, 'SIGSTOP');
  expect(await count()).toBe(counted);
  process.kill(stopped, 'SIGCONT');
  for (const pid of before) process.kill(pid, 'SIGKILL');
  await eventually(async () => {
    const now = await workersOf(gateway);
    return now.length === 2 && !now.some((pid) => before.includes(pid));
  });
  expect(await count()).toBe(counted);
  await firstCalls(2);
  const more = await count();
  expect(more).toBeGreaterThanOrEqual(counted + 2);
  gateway.child?.kill('SIGUSR2');
  await eventually(() => gateway.log().includes('workers replaced'));
  expect(await count()).toBe(more);
  await firstCalls(2);
});

it('all tell of a reload that was refused, also the one that comes in the place of one that a fault ended', async () => {
  await writeFile(join(gateway.directory, 'gateway.yaml'), 'version: 2');
  gateway.child?.kill('SIGHUP');
  const told = async (): Promise<unknown> => {
    const { body } = await askRaw(`${gateway.url}/readyz`, { method: 'GET' });
    return (JSON.parse(body.toString()) as Record<string, unknown>)['reload_error'];
  };
  const tellAll = async (error: string | null): Promise<boolean> => {
    const answers = [await told(), await told(), await told(), await told()];
    return answers.every((answer) => answer === error);
  };
  await eventually(() => tellAll('the configuration is invalid'));
  const [killed = 0] = await workersOf(gateway);
  const ends = (): number => gateway.log().split('a worker ended').length;
  const before = ends();
  process.kill(killed, 'SIGWINCH');
  // A connection that is handed to it as it dies is never answered.
  await eventually(() => ends() > before);
  expect(gateway.log()).toMatch(/uncaughtException.*it broke|it broke.*uncaughtException/);
  await eventually(() => isFirst(gateway));
  expect(await tellAll('the configuration is invalid')).toBe(true);
  await writeConfig(gateway.directory, CONFIG, true);
  gateway.child?.kill('SIGHUP');
  await eventually(() => tellAll(null));
});

it(verifies('ops.shutdown.drain', 'starts no worker for a dead one once it stops'), async () => {
  // Each keeps its worker busy for as long as the drain lasts, which is longer than a restart takes.
  await Promise.all([stream(gateway), stream(gateway)]);
  const [killed = 0, ...rest] = await workersOf(gateway);
  process.kill(killed, 'SIGKILL');
  await eventually(async () => (await workersOf(gateway)).length === rest.length);
  const stopping = gateway.stop();
  const seen = new Set<number>();
  await eventually(async () => {
    for (const pid of await workersOf(gateway)) seen.add(pid);
    return gateway.child?.exitCode !== null;
  });
  expect(rest).toEqual(expect.arrayContaining([...seen]));
  expect(await stopping).toBe(0);
});
