import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { freshChat } from '../../support/fresh-chat.ts';
import { eventually, spawnGateway, startGateway, writeConfig } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { gatewayOfTest } from '../../support/process/gateway-of-test.ts';

/** The mock counts per process, so each worker says `first` once. */
const COUNTING = {
  providers: [
    {
      name: 'mock',
      type: 'mock',
      mock: { rules: [{ match: { attempt: 1 }, reply: { text: 'first' } }] },
    },
  ],
  models: [{ name: 'acme/echo', routes: [{ provider: 'mock' }] }],
};

/** Two gateways of one store, each with an address of its own: this process, and another one. */
async function startTwo(): Promise<[TestGateway, TestGateway]> {
  const directory = await directoryOfTest();
  const config = { ...COUNTING, server: { store: { driver: 'lmdb' } } };
  const first = await gatewayOfTest(config, { directory, binary: false });
  return [first, await gatewayOfTest(config, { directory })];
}

async function freshChats(gateway: TestGateway, count: number, key?: string) {
  const answers = [];
  for (let index = 0; index < count; index++)
    answers.push(await freshChat(gateway, 'acme/echo', key));
  return answers;
}

const firsts = (answers: { text: string }[]): number =>
  answers.filter(({ text }) => text.includes('"first"')).length;

describe('--workers 2', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(COUNTING, { binary: true, args: ['--workers', '2'] });
  });
  afterAll(async () => {
    await gateway.stop();
  });

  it(
    verifies(
      'auth.key.revoked-message',
      'ops.reload.streams',
      'sees revocations and reloads in every worker within a second, and drains with exit 0',
    ),
    async () => {
      let serving = 0;
      await eventually(async () => (serving += firsts(await freshChats(gateway, 4))) === 2);
      const { id, value } = (await gateway.admin('POST', '/admin/v1/keys', { name: 'k' })).body;
      const everyWorker = (status: number, key?: string) =>
        eventually(async () => {
          const answers = await freshChats(gateway, 6, key);
          return answers.every((answer) => answer.status === status) && answers;
        }, 1_000);
      await everyWorker(200, value);

      await gateway.admin('POST', `/admin/v1/keys/${id}/revoke`);
      for (const { text } of await everyWorker(401, value))
        expect(text).toBe('{"error":"API key has been revoked"}');

      await writeConfig(gateway.directory, { ...COUNTING, models: [] }, true);
      gateway.child?.kill('SIGHUP');
      await eventually(() => gateway.log().includes('configuration reloaded'));
      await everyWorker(404);
      expect(await gateway.stop()).toBe(0);
    },
  );

  it.each(inTurn('workers refused', ['memory', 'fs']))(
    verifies('store.scope-refusal', 'is refused on the %s store, with the names of those that do'),
    async (driver) => {
      const cwd = await directoryOfTest();
      await writeConfig(cwd, { ...COUNTING, server: { store: { driver } } }, true);
      const child = spawnGateway(['start', '--workers', '2'], { cwd });
      const [code] = await once(child, 'close');
      expect(child.log()).toMatch(
        new RegExp(
          `^gateway: the ${driver} store belongs to one process; use server.store.driver lmdb`,
        ),
      );
      expect(child.log().trimEnd().split('\n')).toHaveLength(1);
      expect(code).toBe(1);
    },
  );

  it(
    verifies('store.scope-refusal', 'and a second gateway are refused on a store of one process'),
    async () => {
      const home = await directoryOfTest();
      const config = { ...COUNTING, server: { store: { driver: 'fs' } } };
      await gatewayOfTest(config, { directory: home, binary: false });
      const child = spawnGateway(['start', '--port', '0'], { cwd: home });
      const [code] = await once(child, 'close');
      expect(child.log()).toMatch(/^gateway: .*lmdb/);
      expect(code).toBe(1);
    },
  );
});

describe('two gateways on one store', () => {
  it(
    verifies(
      'auth.key.revoked-message',
      'admin.models.crud',
      'see changes of keys and models of each other, and refuse a revoked key, within a second',
    ),
    async () => {
      const [a, b] = await startTwo();
      const { id, value: key } = (await a.admin('POST', '/admin/v1/keys', { name: 'k' })).body;
      const within = (status: number, model = 'acme/echo', own = key) =>
        eventually(async () => (await b.chat(model, { key: own })).status === status, 1_000);
      await within(200);

      const model = { name: 'acme/new', routes: [{ provider: 'mock' }] };
      await a.admin('POST', '/admin/v1/models', model);
      await within(200, 'acme/new');
      await a.admin('PATCH', '/admin/v1/models/acme%2Fnew', { enabled: false });
      await within(404, 'acme/new');
      await a.admin('PATCH', '/admin/v1/models/acme%2Fnew', { enabled: true });
      await within(200, 'acme/new');
      await a.admin('DELETE', '/admin/v1/models/acme%2Fnew');
      await within(404, 'acme/new');
      const other = (await a.admin('POST', '/admin/v1/keys', { name: 'other' })).body;
      await within(200, 'acme/echo', other.value);
      await a.admin('POST', `/admin/v1/keys/${other.id}/revoke`);
      for (const gateway of [a, b]) {
        const refused = await eventually(async () => {
          const answer = await gateway.chat('acme/echo', { key: other.value });
          return answer.status !== 200 && answer;
        }, 1_000);
        expect(refused).toMatchObject({ status: 401, body: { error: 'API key has been revoked' } });
      }
      const { organization } = (await a.admin('GET', `/admin/v1/keys/${id}`)).body;
      await b.admin('PATCH', `/admin/v1/organizations/${organization}`, { enabled: false });
      await eventually(async () => (await a.chat('acme/echo', { key })).status === 403, 1_000);
    },
  );
});
