import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type CliRun, runCli } from '../run-cli.ts';

let gateway: TestGateway;
let cwd: string;
beforeEach(async () => {
  [gateway, cwd] = await Promise.all([startGateway(), emptyDirectory()]);
});
afterEach(() => gateway.stop());

async function run(tree: object, ...argv: string[]): Promise<CliRun> {
  await writeFile(join(cwd, 'gateway.yaml'), JSON.stringify({ version: 1, ...tree }));
  const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey };
  return runCli(argv, { cwd, env });
}

describe('validate --online', () => {
  it('finds what a plan is refused for: an unknown id, and the owner in an inventory alone', async () => {
    const owned = { name: 'a/b', routes: [], description: 'one' };
    expect((await run({ namespace: 'one', models: [owned] }, 'apply', '--yes')).code).toBe(0);
    const { body } = await gateway.admin('GET', '/admin/v1/models?name=a/b');
    await gateway.admin('PATCH', `/admin/v1/models/${body.data[0].id}`, { labels: {} });
    const tree = {
      namespace: 'two',
      models: [{ ...owned, description: 'two' }],
      keys: [{ name: 'pinned', id: 'key_doesnotexist' }],
    };
    expect((await run(tree, 'plan')).code).toBe(5);
    const found = await run(tree, 'validate', '--online');
    expect(found.code).toBe(3);
    expect(found.stdout).toContain('model a/b: exists already as model_');
    expect(found.stdout).toContain('belongs to namespace one');
    expect(found.stdout).toContain('key default/pinned: is pinned to the id key_doesnotexist');
  });
});
