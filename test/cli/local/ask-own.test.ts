import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startFakeServer } from '../../client/fake-server.ts';
import type { FakeServer, Handler } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { placeOf } from '../../support/process/place-of.ts';
import { runCli } from '../run-cli.ts';

let server: FakeServer;
afterEach(() => server.close());

const STATUS = {
  type: 'status',
  version: '1',
  node: 'v20',
  configuration: 'x',
  store: { driver: 'lmdb', scope: 'host', state: 'ok', warnings: [] },
  workers: [],
  providers: [],
  work: {},
};
const refused = { status: 403, body: { error: { code: 'insufficient_scope', message: 'no' } } };

/** `gateway status` in the folder of a gateway that answers so. */
async function status(answers: Record<string, ReturnType<Handler>>) {
  server = await startFakeServer(({ path }) => answers[path] ?? { status: 404, body: {} });
  const cwd = await directoryOfTest();
  await mkdir(join(cwd, '.gateway'));
  const record = { url: server.url, ...placeOf(process.pid) };
  await writeFile(join(cwd, '.gateway', 'runtime.json'), JSON.stringify(record));
  await writeFile(join(cwd, '.gateway', 'admin.key'), 'sk-own', { mode: 0o600 });
  const { json } = await runCli(['status', '-o', 'json'], { cwd, env: { HOME: cwd } });
  return json().data;
}

describe('what is asked of the gateway here', () => {
  it(
    verifies(
      'process.status',
      'is its health without a key, and the rest with the key of the folder',
    ),
    async () => {
      const data = await status({
        '/readyz': { body: {} },
        '/admin/v1/status': { body: STATUS },
        '/v1/sessions': { body: { data: [], next_page: null } },
      });
      expect(data).toMatchObject({ gateway: STATUS, sessions_waiting: 0, problem: null });
      const keys = server.calls.map(({ path, headers }) => [path, headers['authorization']]);
      expect(keys).toEqual([
        ['/readyz', undefined],
        ['/admin/v1/status', 'Bearer sk-own'],
        ['/v1/sessions', 'Bearer sk-own'],
      ]);
    },
  );

  it(verifies('process.status', 'is shown though Sessions cannot be counted'), async () => {
    const data = await status({
      '/readyz': { body: {} },
      '/admin/v1/status': { body: STATUS },
      '/v1/sessions': refused,
    });
    expect(data).toMatchObject({ gateway: STATUS, sessions_waiting: null });
    expect(data.problem).toMatch(/^Sessions that wait were not counted: no/);
  });
});
