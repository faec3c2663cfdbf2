import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { verifies } from '../../requirements.ts';
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

function runWith(values: Record<string, string>, ...argv: string[]): Promise<CliRun> {
  const env = { ...values, GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey };
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

describe('a plan and its apply with what cannot be', () => {
  const env = { UP: 'sk-upstream-one', ONE: 'value-of-key-one-1', TWO: 'value-of-key-two-2' };
  const files = (cap: number, more = '') => [
    'namespace: team',
    'providers: [{ name: up, type: openai, api_key: "${secret:env:UP}" }]',
    'models: [{ name: team/a, routes: [{ provider: up }] }]',
    'keys:',
    `  - { name: one, rpm_cap: ${cap}, value: "\${secret:env:ONE}" }`,
    '  - { name: two, value: "${secret:env:TWO}" }',
    ...(more === '' ? [] : [more]),
  ];

  it(
    verifies('apply.revoked-key', 'apply.plan-short', 'does the rest, and names the object'),
    async () => {
      await write(...files(1));
      expect((await runWith(env, 'apply', '--yes')).code).toBe(0);
      await runWith(env, 'keys', 'revoke', 'two', '--yes');
      await write(...files(2));
      const plan = await runWith(env, 'plan');
      expect([plan.code, plan.stdout]).toEqual([
        0,
        expect.stringMatching(
          /! blocked key default\/two\n {4}it was revoked at \S+, and .*\n {4}declare a new key with another name/,
        ),
      ]);
      expect(plan.stdout).toMatch(
        /^0 to create, 1 to update, 0 to remove, 1 blocked, 2 the same;/m,
      );
      expect(plan.stdout).not.toMatch(/same {3}|revoked_at/);
      expect((await runWith(env, 'plan', '--all')).stdout).toContain('  same   model team/a');
      expect((await runWith(env, 'diff', '--exit-code')).code).toBe(2);
      const done = await runWith(env, 'apply', '--yes');
      expect([done.code, done.stdout]).toEqual([
        6,
        expect.stringContaining('1 applied, 0 failed, 1 blocked'),
      ]);
      expect(done.stderr).toContain('1 of 2 changes was not applied: key default/two');
      const again = await runWith(env, 'apply', '--yes');
      expect([again.code, again.stderr]).toEqual([
        5,
        expect.stringContaining('1 change is not possible: key default/two'),
      ]);
      const drift = await runWith(env, 'drift');
      expect(drift.stdout).toContain('no apply brings it back');
      expect(drift.stdout).not.toContain('recreates');
    },
  );

  it(
    verifies('apply.secret-shown', 'writes other values, and shows no digest that tells a value'),
    async () => {
      await write(...files(1));
      expect((await runWith(env, 'apply', '--yes')).code).toBe(0);
      const next = { ...env, UP: 'sk-upstream-two', ONE: 'another-value-of-one' };
      const plan = await runWith(next, 'plan');
      expect(plan.stdout).toMatch(
        /~ update provider up {2}\(its secret has another value\)\n {4}api_key: .*fingerprint \S{8} → \S{8}\)/,
      );
      const [command = ''] = /gateway keys rotate \S+ --value-env ONE/.exec(plan.stdout) ?? [];
      expect((await runWith(next, 'apply', '--yes')).stdout).toMatch(
        /^done +update provider up\n1 applied/,
      );
      expect((await runWith(next, ...command.split(' ').slice(1))).code).toBe(0);
      const after = await runWith(next, 'plan', '--exit-code');
      expect([after.code, after.stdout]).toEqual([0, expect.stringMatching(/^no changes/)]);
      const blind = await runWith({ TWO: env.TWO }, 'plan');
      expect(blind.stdout).toMatch(
        /^not compared, for want of a value here: \$\{secret:env:UP\}, \$\{secret:env:ONE\}$/m,
      );
      await write(...files(1, '  - { name: three, value: "${secret:env:TWO}" }'));
      const taken = await runWith(next, 'plan');
      expect(taken.stdout).toContain('its value is used already by key default/two');
    },
  );

  it(
    verifies('apply.references-offline', 'removes nothing that a Service still uses'),
    async () => {
      const agents = 'agents: [{ name: bot, model: team/a }]';
      const services = 'services: [{ name: desk, agent_id: bot, protocols: [rest] }]';
      await write(...files(1), agents, services);
      expect((await runWith(env, 'apply', '--yes')).code).toBe(0);
      await write('namespace: team', 'models: []', 'agents: []');
      const done = await runWith(env, 'apply', '--yes', '--prune');
      expect([done.code, done.stdout]).toEqual([
        5,
        expect.stringContaining('it is used by service default/desk'),
      ]);
      expect(done.stdout).toContain('it is used by agent default/bot');
      expect(done.stderr).toContain('2 changes are not possible: agent default/bot, model team/a');
    },
  );
});
