import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { findProgram } from '../../store/support/database-server.ts';
import { shareDatabase } from '../../support/servers/share-database.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const BACKENDS = [
  { driver: 'redis', program: 'redis-server' },
  { driver: 'postgres', program: 'postgres' },
].map((backend) => ({ ...backend, path: findProgram(backend.program) }));

const LATER = [{ type: 'user.message', content: [{ type: 'text', text: 'slowly' }] }];

describe.each(inTurn('replicas', BACKENDS))('two gateways on $driver', ({ driver, path }) => {
  async function replicas(): Promise<[TestGateway, TestGateway]> {
    const { options: place } = await shareDatabase(driver);
    const directory = await newDirectory();
    const reply = { text: 'one two three', chunks: 3, chunk_delay_ms: 400 };
    const config = {
      server: {
        store: { driver, options: place },
        secrets: { master_key: '${secret:env:MASTER}' },
      },
      providers: [
        { name: 'mock', type: 'mock', mock: { rules: [{ match: { text: 'slowly' }, reply }] } },
      ],
      models: [
        { name: 'acme/echo', routes: [{ provider: 'mock', pricing: { per_call: '0.15' } }] },
      ],
    };
    const options = {
      binary: true,
      directory,
      env: { MASTER: 'a-master-key-of-32-characters-00' },
    };
    const first = await startGateway(config, options);
    const second = await startGateway(config, options);
    onTestFinished(async () => {
      await Promise.all([first.stop(), second.stop()]);
      await rm(directory, { recursive: true, force: true });
    });
    return [first, { ...second, clientKey: first.clientKey }];
  }

  it.skipIf(path === undefined)(
    verifies(
      'store.multi-node',
      'agree on keys, rate and spend, and one goes on with the Sessions and Schedules of one that dies',
    ),
    async () => {
      const [first, second] = await replicas();
      const key: string = first.clientKey;
      const call = (gateway: TestGateway, request: string, body?: unknown) => {
        const [method = '', at = ''] = request.split(' ');
        return gateway.call(method, at, { key, body });
      };

      const { body: limited } = await first.admin('POST', '/admin/v1/keys', {
        name: 'limited',
        spending_limit: { lifetime: '0.45' },
      });
      const spent = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          (index % 2 === 0 ? first : second).chat('acme/echo', { key: limited.value }),
        ),
      );
      expect(spent.filter(({ status }) => status === 200).length).toBe(3);

      const { body: capped } = await second.admin('POST', '/admin/v1/keys', {
        name: 'capped',
        rpm_cap: 4,
      });
      const asked = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          (index % 2 === 0 ? first : second).chat('acme/echo', { key: capped.value }),
        ),
      );
      expect(asked.filter(({ status }) => status === 200).length).toBe(4);
      expect(asked.filter(({ status }) => status === 429).length).toBe(8);

      const agent: string = (
        await call(first, 'POST /v1/agents', { name: 'a', model: 'acme/echo' })
      ).body.id;
      const deployment: string = (
        await call(second, 'POST /v1/deployments', {
          name: 'by hand',
          agent,
          initial_events: LATER,
        })
      ).body.id;
      const run = await call(first, `POST /v1/deployments/${deployment}/runs`);
      const session: string = run.body.session_id;
      expect(session).toMatch(/^sess_/);

      const exit = once(first.child!, 'exit');
      first.child!.kill('SIGKILL');
      await exit;
      const events = await eventually(async () => {
        const { body } = await call(second, `GET /v1/sessions/${session}/events?limit=100`);
        const types: string[] = body.data.map(({ type }: { type: string }) => type);
        return types.at(-1) === 'session.status_idle' && types;
      });
      expect(events.filter((type) => type === 'user.message')).toHaveLength(1);
      const runs = await call(second, `GET /v1/deployments/${deployment}/runs`);
      expect(runs.body.data).toMatchObject([{ id: run.body.id, session_id: session }]);
    },
  );
});
