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

async function adopt(tree: object): Promise<CliRun> {
  await writeFile(join(cwd, 'gateway.yaml'), JSON.stringify({ version: 1, ...tree }));
  const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey };
  return runCli(['adopt', '--yes', '-o', 'json'], { cwd, env });
}

async function makeAgent(name: string): Promise<string> {
  const made = await gateway.admin('POST', '/admin/v1/agents', { name, model: 'a/b' });
  expect(made.status).toBe(201);
  return made.body.id;
}

describe('adopt', () => {
  it('takes nothing where several objects have a declared name', async () => {
    const ids = [await makeAgent('bot'), await makeAgent('bot'), await makeAgent('other')];
    const agents = [
      { name: 'bot', model: 'a/b' },
      { name: 'other', model: 'a/b' },
    ];
    const refused = await adopt({ agents });
    expect(refused.code).toBe(5);
    expect(refused.json().error).toMatchObject({
      code: 'ambiguous_name',
      message: `several objects match what is declared: agent default/bot (${ids[0]}, ${ids[1]})`,
      hint: 'add the `id:` of the intended object beside its name, or remove the others',
    });
    const { body } = await gateway.admin('GET', '/admin/v1/agents');
    for (const { labels } of body.data) expect(labels).toEqual({});
    expect((await adopt({ agents: [{ ...agents[0], id: ids[1] }] })).json().data).toMatchObject({
      adopted: [{ id: ids[1] }],
    });
  });

  it('counts what is missing by declared objects', async () => {
    await makeAgent('bot');
    const agents = ['bot', 'gone'].map((name) => ({ name, model: 'a/b' }));
    expect((await adopt({ agents })).json().data).toMatchObject({
      adopted: [{ identity: 'default/bot' }],
      missing: 1,
    });
  });
});
