import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { writeRuntime } from '../../../src/core/process/runtime-file.ts';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { runCli } from '../run-cli.ts';
import type { CliRun } from '../run-cli.ts';

const DECLARED = {
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'm/one', routes: [{ provider: 'mock' }] }],
};

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startGateway(DECLARED);
  onTestFinished(async () => void (await gateway.stop()));
  const facts = { url: gateway.url, since: 'now', version: '1', watch: false };
  const files = [join(gateway.directory, 'gateway.yaml')];
  await writeRuntime(join(gateway.directory, '.gateway'), { ...facts, files });
});

const run = (cwd: string, ...argv: string[]): Promise<CliRun> =>
  runCli(argv, {
    cwd,
    env: { HOME: cwd, GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey },
  });

/** The file of the gateway with other models. */
const edit = (cwd: string, models: object[]) =>
  writeFile(
    join(cwd, 'gateway.yaml'),
    JSON.stringify({ version: 1, ...DECLARED, models, server: { listen: { port: 0 } } }),
  );

describe('files that the gateway follows', () => {
  it(
    verifies('process.plan-followed', 'are planned as a reload does, additions and removals too'),
    async () => {
      const cwd = gateway.directory;
      const routes = [{ provider: 'mock' }];
      await edit(cwd, [{ name: 'm/two', routes }]);
      const plan = await run(cwd, 'plan');
      expect(plan.code).toBe(0);
      expect(plan.stdout).toContain('+ create model m/two');
      expect(plan.stdout).toContain('- delete model m/one');
      expect(plan.stdout).toMatch(/this gateway follows .*`gateway reload` makes 2 changes/);
      const { data } = (await run(cwd, 'diff', '-o', 'json')).json();
      expect(data).toMatchObject({ mode: 'converge', follows: [join(cwd, 'gateway.yaml')] });
      const drift = await run(cwd, 'drift');
      expect(drift).toMatchObject({ code: 0 });
      expect(drift.stdout).toContain('no drift');
      for (const argv of [
        ['apply', '--yes'],
        ['plan', '--out', 'plan.json'],
      ]) {
        const refused = await run(cwd, ...argv);
        expect(refused.code).toBe(5);
        expect(refused.stderr).toContain('hint: run `gateway reload`');
      }
      expect(await run(cwd, 'apply', '--dry-run')).toMatchObject({ code: 0 });
      expect(await run(cwd, 'validate', '--online')).toMatchObject({ code: 0 });
      const { body } = await gateway.admin('GET', '/admin/v1/models');
      expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['m/one']);
    },
  );

  it('need no apply where nothing changed', async () => {
    const cwd = gateway.directory;
    await edit(cwd, DECLARED.models);
    const apply = await run(cwd, 'apply', '--yes');
    expect(apply.code).toBe(0);
    expect(apply.stdout).toMatch(/no changes.*\n.*follows/);
  });
});

it('objects of the followed file in another file are a list with the way out', async () => {
  const cwd = await directoryOfTest();
  const [model] = DECLARED.models;
  await edit(cwd, [{ ...model, description: 'other' }]);
  const plan = await run(cwd, 'plan');
  expect(plan.code).toBe(5);
  const file = join(gateway.directory, 'gateway.yaml');
  expect(plan.stderr).toContain('1 object is declared here and managed elsewhere:\n');
  expect(plan.stderr).toContain(`  model m/one  by the file that the gateway follows, ${file}\n`);
  expect(plan.stderr).toContain('hint: change them in the file of the gateway');
});
