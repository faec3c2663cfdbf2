import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import type { CliRun } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { adminEnv } from '../../support/binary.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const FILE = `version: 1
namespace: team
providers:
  - { name: echo, type: mock, api_key: "\${secret:env:PROVIDER}" }
keys:
  - { name: ci, value: "\${secret:env:KEY}" }
`;
const PROVIDER = 'provider-secret-value';
const [OLD, NEW] = ['a', 'b'].map((digit) => `sk-${digit.repeat(64)}`);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  await writeFile(join(gateway.directory, 'team.yaml'), FILE);
  expect(await apply({ KEY: OLD ?? '' })).toMatchObject({ code: 0 });
});
afterAll(() => gateway.stop());

function apply(env: Record<string, string>, ...flags: string[]): Promise<CliRun> {
  return runCli(['apply', '-f', 'team.yaml', '--yes', ...flags], {
    cwd: gateway.directory,
    env: { ...adminEnv(gateway), PROVIDER, ...env },
  });
}

async function versions(): Promise<unknown[]> {
  const kinds = ['keys', 'providers'].map((kind) => gateway.admin('GET', `/admin/v1/${kind}`));
  const answers = await Promise.all(kinds);
  return answers.map(({ body }) => body.data.map((one: { version: number }) => one.version));
}

describe('--write-secret', () => {
  it.each([
    ['key/ci#value', '`gateway keys rotate ci` gives it a new one'],
    ['key/default/ci#value', 'gateway keys rotate ci'],
    ['provider/echo#base_url', 'known: provider/echo#api_key, key/default/ci#value'],
    ['provider/nope#api_key', 'known: provider/echo#api_key'],
  ])(
    verifies('cli.apply.write-secret.unwritable', 'refuses %s, tells the way, and writes nothing'),
    async (named, way) => {
      const before = await versions();
      const refused = await apply(
        { KEY: NEW ?? '' },
        '--write-secret',
        'provider/echo#api_key',
        '--write-secret',
        named,
      );
      expect([refused.code, refused.stdout]).toEqual([3, '']);
      expect(refused.stderr).toContain(`--write-secret ${named}: `);
      expect(refused.stderr).toContain(way);
      expect(await versions()).toEqual(before);
      const models = (key = '') => gateway.call('GET', '/v1/models', { key });
      expect([(await models(OLD)).status, (await models(NEW)).status]).toEqual([200, 401]);
    },
  );

  it('writes the value of a key that is made by the same apply', async () => {
    const { length } = (await gateway.admin('GET', '/admin/v1/keys')).body.data;
    const env = { KEY: NEW ?? '' };
    await writeFile(join(gateway.directory, 'team.yaml'), FILE.replace('name: ci', 'name: later'));
    expect(await apply(env, '--write-secret', 'key/later#value')).toMatchObject({ code: 0 });
    expect((await gateway.admin('GET', '/admin/v1/keys')).body.data).toHaveLength(length + 1);
    expect((await gateway.call('GET', '/v1/models', { key: NEW ?? '' })).status).toBe(200);
  });
});
