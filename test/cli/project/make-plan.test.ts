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

async function write(...lines: string[]): Promise<void> {
  await writeFile(join(cwd, 'gateway.yaml'), ['version: 1', ...lines].join('\n'));
}

function run(...argv: string[]): Promise<CliRun> {
  const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey };
  return runCli(argv, { cwd, env });
}

async function makeOrganization(name: string): Promise<string> {
  return (await gateway.admin('POST', '/admin/v1/organizations', { name })).body.id;
}

const service = (owner: string) =>
  `services: [{ name: desk, organization: ${owner}, agent_id: "\${ref:agent.bot.id}", protocols: [rest] }]`;

describe('an organization that the files name by its id', () => {
  it('is the one of its name, also for a plan that is saved', async () => {
    const id = await makeOrganization('first');
    await write('agents: [{ name: bot, organization: first, model: a/b }]', service(id));
    expect((await run('plan', '--out', 'plan.json')).code).toBe(0);
    const done = await run('apply', '--plan', 'plan.json', '-o', 'json');
    expect([done.code, done.json().data]).toMatchObject([
      0,
      { applied: [{ identity: 'first/bot' }, { identity: 'first/desk' }], failed: [] },
    ]);
    expect((await run('plan', '--exit-code')).code).toBe(0);
  });

  it('has no object twice: nothing is written, exit 3 with the place', async () => {
    const id = await makeOrganization('first');
    await write(
      `keys:`,
      `  - { name: k, organization: first }`,
      `  - { name: k, organization: ${id} }`,
    );
    for (const argv of [['plan'], ['apply', '--yes'], ['validate', '--online']]) {
      const refused = await run(...argv);
      expect([refused.code, refused.stdout + refused.stderr]).toEqual([
        3,
        expect.stringContaining('gateway.yaml:4:5: error: key first/k: is declared twice'),
      ]);
    }
    const { body } = await gateway.admin('GET', '/admin/v1/keys');
    expect(body.data.map(({ name }: { name: string }) => name)).not.toContain('k');
  });
});

describe('a reference into another organization', () => {
  it('is refused before the first write, whatever names the organization', async () => {
    const id = await makeOrganization('acme');
    for (const owner of ['acme', id]) {
      await write(
        'organizations: [{ name: acme }]',
        `agents: [{ name: bot, organization: ${owner}, model: a/b }]`,
        service('default'),
      );
      for (const argv of [['plan'], ['apply', '--yes'], ['validate', '--online']]) {
        const refused = await run(...argv);
        expect([refused.code, refused.stdout + refused.stderr]).toEqual([
          3,
          expect.stringMatching(
            /gateway\.yaml:4:\d+: error: .*no agent is named bot in organization default/,
          ),
        ]);
      }
    }
    expect((await gateway.admin('GET', '/admin/v1/agents')).body.data).toEqual([]);
  });
});
