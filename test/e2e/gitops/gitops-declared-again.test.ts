import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { verifies } from '../../requirements.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const FILES = {
  providers: [{ name: 'echo', type: 'mock' }],
  models: [{ name: 'team/one', routes: [{ provider: 'echo' }], lifecycle: { prune: 'disable' } }],
  keys: [{ name: 'ci' }],
  agents: [{ name: 'clerk', model: 'team/one' }],
  credentials: [
    {
      name: 'token',
      agent_id: '${ref:agent.clerk.id}',
      scope: 'env',
      scope_name: 'TOKEN',
      secret_key: 'TOKEN',
      value: '${secret:env:TOKEN}',
    },
  ],
};

let gateway: TestGateway;
let cwd: string;
beforeEach(async () => {
  [gateway, cwd] = await Promise.all([startGateway(), emptyDirectory()]);
});
afterEach(() => gateway.stop());

async function cli(tree: object, ...argv: string[]) {
  const whole = { version: 1, namespace: 'team', ...tree };
  await writeFile(join(cwd, 'gateway.yaml'), JSON.stringify(whole));
  const connection = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey };
  return runCli(argv, { cwd, env: { ...connection, TOKEN: 'a value' } });
}

async function apply(tree: object, ...flags: string[]) {
  const done = await cli(tree, 'apply', '--yes', ...flags);
  expect(done.code, done.stdout + done.stderr).toBe(0);
  return done;
}

async function states() {
  const of = async (kind: string, name: string) => {
    const { body } = await gateway.admin('GET', `/admin/v1/${kind}`);
    return body.data.find((one: { name: string }) => one.name === name);
  };
  const [model, credential] = [await of('models', 'team/one'), await of('credentials', 'token')];
  return { enabled: model.enabled, status: credential.status, id: credential.id };
}

describe('a key that is declared without a value', () => {
  it('is shown once on a terminal, and never in the log of a pipeline', async () => {
    const done = await apply({ keys: [{ name: 'ci' }] });
    expect(done.stderr).toMatch(/only with -o json or on a terminal: default\/ci/);
    expect(done.stdout + done.stderr).not.toContain('sk-');
    const whole = { version: 1, namespace: 'team', keys: [{ name: 'ci' }, { name: 'mine' }] };
    await writeFile(join(cwd, 'gateway.yaml'), JSON.stringify(whole));
    const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey };
    const shown = await runCli(['apply', '--yes'], { cwd, env, tty: true });
    expect(shown.stdout).toMatch(/^key default\/mine, shown once: sk-[0-9a-f]{64}$/m);
  });
});

describe('what was pruned and is declared again', () => {
  it(
    verifies('cli.apply.prune', 'is switched on, and what somebody switched off by hand is not'),
    async () => {
      await apply(FILES);
      const { id } = await states();
      const without = { ...FILES, models: [], agents: [], credentials: [] };
      await apply(without, '--prune', '--confirm-prune', '3');
      expect(await states()).toMatchObject({ enabled: false, status: 'disabled' });
      const agents = [{ name: 'clerk two', model: 'team/one' }];
      const planned = await cli({ ...FILES, agents, credentials: [] }, 'diff');
      expect(planned.stdout).toMatch(
        /model team\/one {2}\(declared again\)\n {4}enabled: false → true/,
      );

      await apply({ ...FILES, agents, credentials: [] });
      expect(await states()).toMatchObject({ enabled: true, status: 'disabled' });
      const again = await cli({ ...FILES, agents, credentials: [] }, 'plan', '--exit-code');
      expect(again.code).toBe(0);

      const { body } = await gateway.admin('GET', '/admin/v1/models');
      const path = `/admin/v1/models/${body.data[0].id}`;
      await gateway.admin('PATCH', path, { enabled: false });
      expect((await cli({ ...FILES, agents, credentials: [] }, 'plan', '--exit-code')).code).toBe(
        0,
      );
      expect(await states()).toMatchObject({ enabled: false, id });
    },
  );

  it('a Credential is used again as it was', async () => {
    await apply(FILES);
    await apply({ ...FILES, credentials: [] }, '--prune', '--confirm-prune', '1');
    const { id, status } = await states();
    expect(status).toBe('disabled');
    await apply(FILES);
    expect(await states()).toMatchObject({ id, status: 'active' });
    expect((await cli(FILES, 'plan', '--exit-code')).code).toBe(0);
  });

  it('a key does not come back: the plan says so', async () => {
    await apply(FILES);
    await apply({ ...FILES, keys: [] }, '--prune', '--confirm-prune', '1');
    const refused = await cli(FILES, 'apply', '--yes');
    expect([refused.code, refused.stderr]).toEqual([
      5,
      expect.stringMatching(
        /key default\/ci: it was revoked at \S+, and .* with another name, or remove/,
      ),
    ]);
    await apply({ ...FILES, keys: [{ name: 'ci-2' }] });
  });
});
