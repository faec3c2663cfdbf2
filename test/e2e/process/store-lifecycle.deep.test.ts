import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { openRawTarget } from '../../../src/store/raw/open-raw.ts';
import { verifies } from '../../requirements.ts';
import { findProgram } from '../../store/support/database-server.ts';
import { formatOneStore } from '../../store/support/format-one.ts';
import { runCli } from '../../cli/run-cli.ts';
import { eventually, startGateway, writeConfig } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { shareDatabase } from '../../support/servers/share-database.ts';
import { startMediaStudio } from '../../support/stage/media-studio.ts';
import type { MediaStudio } from '../../support/stage/media-studio.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { refusedStart } from '../../support/process/refused-start.ts';

const MESSAGE = [{ type: 'user.message', content: [{ type: 'text', text: 'remember me' }] }];

let studio: MediaStudio;
beforeAll(async () => {
  studio = await startMediaStudio();
});
afterAll(() => studio.close());

const config = (server: object = {}): object => ({
  server: {
    store: { driver: 'lmdb' },
    outbound: { allow: [new URL(studio.url).host] },
    ...server,
  },
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'acme/echo', routes: [{ provider: 'mock', pricing: { per_call: '0.15' } }] }],
});

/** A Session that answered, a Schedule, keys, an asset and calls that cost. */
async function live(gateway: TestGateway): Promise<string[]> {
  const made = async (path: string, body: unknown, key = gateway.clientKey) => {
    const answer = await gateway.call('POST', path, { body, key });
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body;
  };
  await made('/admin/v1/keys', { name: 'another' }, gateway.adminKey);
  const agent: string = (await made('/v1/agents', { name: 'a', model: 'acme/echo' })).id;
  const session: string = (await made('/v1/sessions', { agent })).id;
  await made(`/v1/sessions/${session}/events`, { events: MESSAGE });
  const schedule = { type: 'cron', expression: '0 0 1 1 *', timezone: 'UTC' };
  await made('/v1/deployments', { name: 'yearly', agent, initial_events: MESSAGE, schedule });
  const url = `${studio.url}/photo.png`;
  const asset = await made('/v1/assets', { url, asset_type: 'Image', name: 'fox' });
  for (let n = 0; n < 3; n++) expect((await gateway.chat('acme/echo')).status).toBe(200);
  const events = `/v1/sessions/${session}/events?limit=100`;
  await eventually(async () => {
    const { body } = await gateway.call('GET', events);
    return body.data.at(-1)?.type === 'session.status_idle';
  });
  const assetPath = `/v1/assets/${asset.asset_url.slice('asset://'.length)}`;
  await eventually(async () => {
    const [calls, kept] = await Promise.all([
      gateway.call('GET', '/v1/account/executions'),
      gateway.call('GET', assetPath),
    ]);
    const ended = calls.body.data.filter(({ result }: { result: string }) => result === 'ok');
    return ended.length === 4 && kept.body.status === 'Active';
  });
  return [
    '/v1/agents',
    '/v1/sessions',
    `/v1/sessions/${session}`,
    events,
    '/v1/deployments',
    assetPath,
    '/v1/account/balance',
    '/v1/account/executions',
    '/admin/v1/keys',
    '/admin/v1/models',
  ];
}

/** What moves with the clock or the address. */
const PASSING = [
  [/"download_url":"[^"]*"/g, '"download_url":"…"'],
  [/"duration_seconds":[\d.]+/g, '"duration_seconds":0'],
] as const;

/** What each path answers. */
async function answers(gateway: TestGateway, paths: readonly string[], key: string) {
  const all = paths.map(async (path) => {
    const own = path.startsWith('/admin') ? gateway.adminKey : key;
    const { status, body } = await gateway.call('GET', path, { key: own });
    expect(status, `${path}: ${JSON.stringify(body)}`).toBe(200);
    const text = PASSING.reduce(
      (json, [pattern, still]) => json.replace(pattern, still),
      JSON.stringify(body),
    );
    return [path, JSON.parse(text)] as const;
  });
  return Object.fromEntries(await Promise.all(all));
}

async function media(gateway: TestGateway, paths: readonly string[], key: string): Promise<string> {
  const path = paths.find((one) => one.startsWith('/v1/assets/')) ?? '';
  const { body } = await gateway.call('GET', path, { key });
  const response = await fetch(body.download_url);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer()).toString('base64');
}

const store = (cwd: string, ...words: string[]) => runCli(['store', ...words], { cwd });

describe('gateway store', () => {
  it(
    verifies(
      'store.backup-restore',
      'backup copies what another process serves, and restore makes a gateway of it that answers the same',
    ),
    async () => {
      const here = await directoryOfTest();
      const gateway = await startGateway(config(), { binary: true, directory: here });
      onTestFinished(async () => void (await gateway.stop()));
      const paths = await live(gateway);
      const before = await answers(gateway, paths, gateway.clientKey);
      const picture = await media(gateway, paths, gateway.clientKey);
      const over = new AbortController();
      const calling = (async () => {
        while (!over.signal.aborted) expect((await gateway.chat('acme/echo')).status).toBe(200);
      })();
      const backup = join(here, 'backup');
      const backedUp = await store(here, 'backup', backup);
      over.abort();
      await calling;
      expect(backedUp).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/master key is not/),
      });
      expect((await readdir(backup, { recursive: true })).join(' ')).not.toMatch(/\.key/);
      expect((await store(here, 'verify')).code).toBe(0);
      const refused = await store(here, 'restore', backup, '--replace');
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/process \d+/) });
      // A worker that runs keeps its lease, which the copy has, too; the restored gateway would await its end.
      await gateway.stop();

      const there = await directoryOfTest();
      const file = await writeConfig(there, config(), true);
      await mkdir(join(there, '.gateway'));
      for (const name of ['master.key', 'admin.key']) {
        await cp(join(here, '.gateway', name), join(there, '.gateway', name));
      }
      expect(await store(there, 'restore', backup, '-c', file)).toMatchObject({ code: 0 });
      const again = await startGateway(config(), { directory: there });
      onTestFinished(async () => void (await again.stop()));
      const after = await answers(again, paths, gateway.clientKey);
      for (const path of paths.filter((one) => !one.startsWith('/v1/account'))) {
        expect(after[path], path).toEqual(before[path]);
      }
      // Calls went on until the copy was made.
      const ids = (of: typeof after): string[] =>
        of['/v1/account/executions'].data.map(({ id }: { id: string }) => id);
      expect(ids(after).length).toBeGreaterThanOrEqual(ids(before).length);
      expect(await media(again, paths, gateway.clientKey)).toBe(picture);
      expect((await again.chat('acme/echo', { key: gateway.clientKey })).status).toBe(200);
    },
  );

  it(
    verifies(
      'store.migrations',
      'a store of an older release is brought forward by a gateway that starts on it',
    ),
    async () => {
      const here = await directoryOfTest();
      await formatOneStore('lmdb', join(here, '.gateway', 'store'));
      const old = await store(here, 'verify', 'lmdb:.gateway/store', '-o', 'json');
      expect(old.json().data).toMatchObject({ format: 1, rows: 6, problems: [] });
      const gateway = await startGateway(config(), { directory: here });
      onTestFinished(async () => void (await gateway.stop()));
      expect((await gateway.chat('acme/echo')).status).toBe(200);
      await gateway.stop();
      const verified = (await store(here, 'verify', '-o', 'json')).json().data;
      expect(verified).toMatchObject({ format: 2, problems: [] });
      expect(verified.segments).toMatchObject({ count: 1, late: 1, text: 1 });
    },
  );
});

const postgres = findProgram('postgres');

describe.skipIf(postgres === undefined)('gateway store migrate', () => {
  it(
    verifies('store.migrate', 'moves a gateway from lmdb to PostgreSQL, where it answers the same'),
    async () => {
      const here = await directoryOfTest();
      const gateway = await startGateway(config(), { directory: here });
      onTestFinished(async () => void (await gateway.stop()));
      const paths = await live(gateway);
      const before = await answers(gateway, paths, gateway.clientKey);
      await gateway.stop();
      const { url } = await shareDatabase('postgres');
      const to = `${url}?schema=moved`;
      const moved = await store(here, 'migrate', '--from', 'gateway.yaml', '--to', to);
      expect(moved, moved.stderr).toMatchObject({ code: 0 });
      expect(moved.stdout).toContain('driver: postgres, options: { url: ');

      const options = { url, schema: 'moved' };
      const next = config({ store: { driver: 'postgres', options } });
      const again = await startGateway(next, { directory: here });
      onTestFinished(async () => void (await again.stop()));
      expect(await answers(again, paths, gateway.clientKey)).toEqual(before);
      expect((await again.chat('acme/echo', { key: gateway.clientKey })).status).toBe(200);
    },
  );

  it(verifies('store.migrate', 'starts no gateway on half a copy, and says why'), async () => {
    const here = await directoryOfTest();
    const path = join(here, 'store');
    const target = await openRawTarget({ driver: 'lmdb', path }, systemClock);
    await target.begin({ from: 'somewhere', startedAt: 0 });
    await target.close();
    await writeConfig(here, config({ store: { driver: 'lmdb', path } }), true);
    const { code, said } = await refusedStart({ cwd: here });
    expect({ code, said }).toEqual({ code: 1, said: expect.stringMatching(/half copied/) });
    const verified = await store(here, 'verify');
    expect(verified).toMatchObject({ code: 1, stdout: expect.stringMatching(/did not end/) });
  });
});
