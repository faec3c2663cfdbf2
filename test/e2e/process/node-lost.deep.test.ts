import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFastTime } from '../../chaos/fast-time.ts';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { findProgram } from '../../store/support/database-server.ts';
import { shareDatabase } from '../../support/servers/share-database.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const LONG = { timeout: 300_000 };
/** At four times the speed: what the dead one held is free when its lease has run out. */
const ENV = { MASTER: 'a-master-key-of-32-characters-00', ...createFastTime(4).environment };
const SERVERS = [
  { driver: 'redis', program: findProgram('redis-server') },
  { driver: 'postgres', program: findProgram('postgres') },
] as const;

/** A provider that answers all but those who ask it to hang. */
async function startProvider(): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if ((await text(request)).includes('hang')) return;
    const message = { role: 'assistant', content: 'hi' };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ object: 'chat.completion', choices }));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a node that is killed and whose data folder is gone', () => {
  for (const { driver, program } of inTurn('node lost', SERVERS)) {
    it.skipIf(program === undefined)(
      verifies(
        'store.journal.node-lost',
        `leaves every acknowledged record on ${driver}, and what was open is charged`,
      ),
      LONG,
      async () => {
        const { options } = await shareDatabase(driver);
        const upstream = await startProvider();
        const pricing = { per_call: '0.01' };
        const config = {
          server: {
            store: { driver, options },
            secrets: { master_key: '${secret:env:MASTER}' },
          },
          providers: [
            {
              name: 'up',
              type: 'custom',
              base_url: `${upstream}/v1`,
              auth: { type: 'none' },
              protocols: { chat: true },
            },
          ],
          models: [
            { name: 'acme/flat', routes: [{ provider: 'up', upstream_model: 'flat', pricing }] },
          ],
        };
        const directory = await directoryOfTest();
        const open = () => startGateway(config, { binary: true, directory, env: ENV });
        const first = await open();
        const second = await open();
        onTestFinished(async () => void (await second.stop()));
        const limited = { name: 'paid', spending_limit: { lifetime: 100 }, rpm_cap: 10_000 };
        const { adminKey } = first;
        const { body } = await first.admin('POST', '/admin/v1/keys', limited);
        const call = (content: string) =>
          first.chat('acme/flat', {
            key: body.value,
            body: { messages: [{ role: 'user', content }] },
          });
        const answers = await Promise.all(Array.from({ length: 40 }, () => call('hello')));
        const ids = answers.map(({ headers }) => headers.get('x-request-id') ?? '');
        const hanging = Array.from({ length: 5 }, () => call('hang').catch(() => undefined));
        const look = async (gateway: TestGateway) =>
          (
            await gateway.call('GET', `/admin/v1/requests?limit=100&key=${body.id}`, {
              key: adminKey,
            })
          ).body.data as { id: string; result: string; cost: string; estimated: boolean }[];
        await eventually(
          async () => (await look(first)).filter(({ result }) => result === 'pending').length === 5,
        );
        expect(existsSync(join(directory, '.gateway', 'store'))).toBe(false);
        const exit = once(first.child!, 'exit');
        first.child!.kill('SIGKILL');
        await Promise.all([exit, ...hanging]);
        await rm(join(directory, '.gateway'), { recursive: true });

        const records = await eventually(async () => {
          const found = await look(second);
          return found.every(({ result }) => result !== 'pending') && found;
        });
        const byId = new Map(records.map((record) => [record.id, record]));
        for (const id of ids) expect(byId.get(id)).toMatchObject({ result: 'ok', cost: '0.01' });
        const lost = records.filter(({ result }) => result === 'interrupted');
        expect(lost).toHaveLength(5);
        for (const one of lost) expect(one).toMatchObject({ cost: '0.01', estimated: true });
      },
    );
  }
});
