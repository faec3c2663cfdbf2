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

async function run(tree: object, key: string, ...argv: string[]): Promise<CliRun> {
  await writeFile(join(cwd, 'gateway.yaml'), JSON.stringify({ version: 1, ...tree }));
  return runCli(argv, { cwd, env: { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: key } });
}

async function keyOf(role: string): Promise<string> {
  const made = await gateway.admin('POST', '/admin/v1/keys', {
    name: `of ${role}`,
    scopes: ['admin'],
    role,
  });
  expect(made.status).toBe(201);
  return made.body.value;
}

async function named(collection: string): Promise<string[]> {
  const { body } = await gateway.admin('GET', `/admin/v1/${collection}`);
  return body.data.map(({ name }: { name: string }) => name);
}

const TREE = { models: [{ name: 'a/b', routes: [] }], keys: [{ name: 'ci' }] };

describe('a key whose role may not change inventories', () => {
  it('applies nothing, and is told what is missing and what to do', async () => {
    const operator = await keyOf('operator');
    expect((await run(TREE, operator, 'apply', '--dry-run')).code).toBe(0);
    const refused = await run(TREE, operator, 'apply', '--yes', '-o', 'json');
    expect([refused.code, refused.json().error]).toMatchObject([
      4,
      {
        code: 'insufficient_scope',
        message:
          'the key of operator has the role operator, which may not change keys, the inventory of the namespace',
        hint: 'nothing was written; use a key of the role admin, or one of the scope admin without a role',
      },
    ]);
    expect([await named('models'), await named('inventories')]).toEqual([[], []]);
    expect((await run(TREE, operator, 'plan', '--out', 'plan.json')).code).toBe(0);
    expect((await run(TREE, operator, 'apply', '--plan', 'plan.json')).code).toBe(4);
    expect(await named('models')).toEqual([]);
    expect((await run(TREE, await keyOf('admin'), 'apply', '--yes')).code).toBe(0);
  });

  it('adopts and deletes nothing', async () => {
    const operator = await keyOf('operator');
    await gateway.admin('POST', '/admin/v1/models', TREE.models[0]);
    const models = { models: TREE.models };
    expect((await run(models, operator, 'adopt', '--yes')).code).toBe(4);
    const { body } = await gateway.admin('GET', '/admin/v1/models');
    expect(body.data[0].labels).toEqual({});
    expect((await run(models, gateway.adminKey, 'adopt', '--yes')).code).toBe(0);
    expect((await run(models, operator, 'delete', '--yes')).code).toBe(4);
    expect(await named('models')).toEqual(['a/b']);
  });
});
