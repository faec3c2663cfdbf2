import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway, writeConfig } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { childrenOf, isRunning } from '../../support/process/children-of.ts';
import { startSteadyLoad } from '../../support/stage/steady-load.ts';

const MODEL = 'acme/echo';

function configOf(server: object = {}): object {
  const reply = { text: 'one two three', chunks: 3, chunk_delay_ms: 60 };
  return {
    server: { drain_idle: '1s', log: { level: 'info' }, ...server },
    providers: [{ name: 'mock', type: 'mock', mock: { rules: [{ reply }] } }],
    models: [{ name: MODEL, routes: [{ provider: 'mock' }] }],
  };
}

/** Each test takes over from the one before it; the last one ends it. */
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(configOf(), { binary: true, args: ['--workers', '2'] });
  await eventually(async () => (await childrenOf(gateway.child?.pid)).length === 2);
});
afterAll(() => gateway.stop());

const count = ({ log }: TestGateway, text: string): number => log().split(text).length - 1;

async function lastOutcome({ directory }: TestGateway): Promise<unknown> {
  return JSON.parse(await readFile(join(directory, '.gateway', 'runtime.json'), 'utf8')).last;
}

describe('SIGUSR2', () => {
  it(
    verifies(
      'ops.shutdown.drain',
      'puts new workers in the place of all, without losing a request, turn or event of a tail',
    ),
    async () => {
      const { url, clientKey: key, call } = gateway;
      const agent = (await call('POST', '/v1/agents', { body: { name: 'a', model: MODEL } })).body
        .id;
      const load = startSteadyLoad({ urls: [url], key, agent, model: MODEL });
      const isServed = (times: number) => () => {
        expect(load.failures).toEqual([]);
        return Object.values(load.done).every((done) => done >= times);
      };
      await eventually(isServed(1));
      const before = await childrenOf(gateway.child?.pid);
      gateway.child?.kill('SIGUSR2');
      await eventually(() => count(gateway, 'workers replaced') === 1);
      await eventually(isServed(3));
      const after = await childrenOf(gateway.child?.pid);
      expect(after).toHaveLength(2);
      expect(after.filter((pid) => before.includes(pid))).toEqual([]);
      await load.stop();
      expect(load.failures).toEqual([]);
      expect(count(gateway, 'a worker ended')).toBe(0);
    },
  );

  it('makes the settings of now count, and changes nothing for what cannot change', async () => {
    const before = await childrenOf(gateway.child?.pid);
    const restart = async (server: object | string, told: string): Promise<void> => {
      const config = typeof server === 'string' ? server : configOf(server);
      await writeConfig(gateway.directory, config, true);
      const times = count(gateway, told);
      gateway.child?.kill('SIGUSR2');
      await eventually(() => count(gateway, told) > times);
    };
    const largeChat = () =>
      gateway.chat(MODEL, { body: { messages: [{ role: 'user', content: 'x'.repeat(2_000) }] } });

    await restart(
      { store: { driver: 'memory' } },
      'only a stop and a start can change server.store',
    );
    await restart('version: 1\nserver: { nonsense: 1 }', 'the configuration was not reloaded');
    expect(await childrenOf(gateway.child?.pid)).toEqual(before);
    await eventually(async () => (await lastOutcome(gateway)) !== undefined);
    expect(await lastOutcome(gateway)).toMatchObject({ action: 'restart' });

    // The file is still invalid: what was checked at the start serves on.
    // The first one listens for certain, and with it the address stays.
    const [kept, last = 0] = before;
    process.kill(last, 'SIGKILL');
    await eventually(async () => {
      const now = await childrenOf(gateway.child?.pid);
      return now.length === 2 && now.includes(kept!) && !now.includes(last);
    });
    expect(gateway.log()).toMatch(/a worker ended worker=\d+ .*SIGKILL/);
    expect((await largeChat()).status).toBe(200);

    await restart({ limits: { body: 1_000 } }, 'workers replaced');
    expect((await largeChat()).status).toBe(413);
    await eventually(
      async () => ((await lastOutcome(gateway)) as { error: unknown }).error === null,
    );
  });
});

describe('a first process that is killed', () => {
  it(verifies('ops.shutdown.drain', 'leaves no worker behind, and cuts no answer'), async () => {
    const { url, clientKey } = gateway;
    const workers = await childrenOf(gateway.child?.pid);
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: MODEL,
        stream: true,
        messages: [{ role: 'user', content: 'hello' }],
      }),
    });
    const exit = once(gateway.child!, 'exit');
    gateway.child?.kill('SIGKILL');
    await exit;
    expect(await answer.text()).toMatch(/data: \[DONE\]\n\n$/);
    await eventually(async () => !(await Promise.all(workers.map(isRunning))).includes(true));
  });
});
