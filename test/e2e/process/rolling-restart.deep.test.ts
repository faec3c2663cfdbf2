import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { findProgram } from '../../store/support/database-server.ts';
import { freePort } from '../../store/support/free-port.ts';
import { startBalancer } from '../../support/stage/balancer.ts';
import { startNginx, upstreamBlock } from '../../support/stage/nginx.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { shareDatabase } from '../../support/servers/share-database.ts';
import { startSteadyLoad } from '../../support/stage/steady-load.ts';

const BACKENDS = [
  { driver: 'lmdb', program: undefined },
  { driver: 'redis', program: 'redis-server' },
  { driver: 'postgres', program: 'postgres' },
].map((backend) => ({ ...backend, path: backend.program && findProgram(backend.program) }));

/** Each of the two once. */
const RESTARTS = 2;
const MODEL = 'acme/echo';
const ENV = { MASTER: 'a-master-key-of-32-characters-00' };

async function configOf(driver: string, server: object) {
  const database = driver === 'lmdb' ? undefined : await shareDatabase(driver);
  const reply = { text: 'one two three', chunks: 3, chunk_delay_ms: 60 };
  return {
    server: {
      ...server,
      store: { driver, ...(database && { options: database.options }) },
      secrets: { master_key: '${secret:env:MASTER}' },
      log: { level: 'warn' },
    },
    providers: [{ name: 'mock', type: 'mock', mock: { rules: [{ reply }] } }],
    models: [{ name: MODEL, routes: [{ provider: 'mock' }] }],
  };
}

/** Gateways with addresses that stay theirs; each can be stopped and started again. */
async function startReplicas(config: object) {
  const directory = await newDirectory();
  const open = async (port: number) =>
    startGateway(config, { binary: true, directory, env: ENV, args: ['--port', String(port)] });
  const ports = [await freePort(), await freePort()];
  const running: TestGateway[] = [];
  for (const port of ports) running.push(await open(port));
  onTestFinished(async () => {
    await Promise.all(running.map((gateway) => gateway.stop()));
    await rm(directory, { recursive: true, force: true });
  });
  const [first] = running;
  const { clientKey: key } = first!;
  const restart = async (index: number): Promise<void> => {
    expect(await running[index]!.stop(), running[index]!.log()).toBe(0);
    running[index] = await open(ports[index]!);
  };
  return { running, key, restart, urls: running.map(({ url }) => url) };
}

async function makeAgent({ call }: TestGateway, key: string): Promise<string> {
  const body = { name: 'a', model: MODEL };
  return (await call('POST', '/v1/agents', { key, body })).body.id;
}

/** The documented `upstream`, in front of the two. */
async function startProxy(urls: readonly string[]): Promise<string[]> {
  const program = findProgram('nginx');
  if (program === undefined) return [];
  const page = await readFile(new URL('../../../docs/reverse-proxy.md', import.meta.url), 'utf8');
  const nginx = await startNginx(program, upstreamBlock(page), urls);
  onTestFinished(() => nginx.close());
  return [nginx.url];
}

const RUN = inTurn('rolling restart', BACKENDS);

describe.each(RUN)('two gateways on $driver', ({ driver, program, path }) => {
  it.skipIf(program !== undefined && path === undefined)(
    verifies(
      'ops.shutdown.drain',
      'store.multi-node',
      'reverse-proxy.two-nodes',
      'lose no request, turn or event of a tail while each is restarted under load',
    ),
    async () => {
      const { running, key, restart, urls } = await startReplicas(
        await configOf(driver, { drain_idle: '1s' }),
      );
      const agent = await makeAgent(running[0]!, key);
      const balancer = await startBalancer(urls);
      onTestFinished(() => balancer.close());
      const shared = { key, agent, model: MODEL };
      const proxy = await startProxy(urls);
      const ways = [[balancer.url], proxy, urls, urls.toReversed()].filter((own) => own.length > 0);
      const loads = ways.map((own) => startSteadyLoad({ ...shared, urls: own }));
      const enough = (count: number) => () =>
        loads.every(({ done, failures }) => {
          expect([...failures, ...balancer.failures].join('\n')).toBe('');
          return Object.values(done).every((times) => times >= count);
        });
      await eventually(enough(1));
      for (let round = 1; round <= RESTARTS; round++) {
        await restart(round % 2);
        await eventually(enough(round + 1));
      }
      await Promise.all(loads.map((load) => load.stop()));
      expect(loads.flatMap(({ failures }) => failures).join('\n')).toBe('');
    },
  );
});

describe('a turn that outlasts the drain of its process', () => {
  it(
    verifies('ops.shutdown.drain', 'store.multi-node', 'is answered once, by the other process'),
    async () => {
      const config = await configOf('lmdb', { drain: '200ms' });
      const slow = { text: 'one two three four', chunks: 4, chunk_delay_ms: 600 };
      config.providers[0]!.mock.rules = [{ reply: slow }];
      const { running, key } = await startReplicas(config);
      const [first, second] = running as [TestGateway, TestGateway];
      const agent = await makeAgent(first, key);
      const content = [{ type: 'text', text: 'go' }];
      const body = { agent, initial_events: [{ type: 'user.message', content }] };
      // Which of the two takes a turn is not told, so there are several.
      const made = await Promise.all(
        Array.from({ length: 8 }, () => first.call('POST', '/v1/sessions', { key, body })),
      );
      const ids: string[] = made.map((answer) => answer.body.id);
      const typesOf = async (id: string): Promise<string[]> => {
        const { body: page } = await second.call('GET', `/v1/sessions/${id}/events`, { key });
        return page.data.map(({ type }: { type: string }) => type);
      };
      for (const id of ids)
        await eventually(async () => (await typesOf(id)).includes('span.model_request_start'));
      const exit = once(first.child!, 'exit');
      first.child!.kill('SIGTERM');
      expect(await exit).toEqual([0, null]);
      for (const id of ids) {
        const types = await eventually(async () => {
          const found = await typesOf(id);
          return found.at(-1) === 'session.status_idle' && found;
        });
        expect(types.filter((type) => type === 'agent.message')).toHaveLength(1);
        expect(types).not.toContain('session.error');
      }
    },
  );
});
