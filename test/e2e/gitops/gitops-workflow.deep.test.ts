import { chmod, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { verifies } from '../../requirements.ts';
import { newDirectory, startGateway, type TestGateway } from '../../support/gateway.ts';
import type { PutCommand } from '../../support/process/built-command.ts';
import { putServingCommand } from './serving-command.ts';

interface Job {
  if: string;
  strategy: { matrix: { environment: string[] } };
  env?: Record<string, string>;
  steps: { uses?: string; run?: string; env?: Record<string, string> }[];
}
type Environment = 'staging' | 'production';

let directory: string;
let repository: string;
let jobs: Record<string, Job>;
let gateways: Record<Environment, TestGateway>;
let command: PutCommand;

beforeAll(async () => {
  directory = await realpath(await newDirectory());
  repository = join(directory, 'repository');
  const [staging, production] = await Promise.all([startGateway(), startGateway()]);
  gateways = { staging, production };
  const bin = join(directory, 'bin');
  await mkdir(bin);
  const programs = {
    // The machine of the test installs nothing, and no pull request is open.
    npm: '[ "$*" = "install --global agent-gateway" ]',
    gh: `[ "$1 $2 $4" = "pr comment --body-file" ] && cat "$5" >> "${directory}/comment-$3.md"`,
  };
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  command = await putServingCommand(bin);
  await execa('gateway', ['init', '--template', 'gitops', repository], {
    cwd: directory,
    env: { PATH: PATH(), HOME: directory },
    extendEnv: false,
  });
  const workflow = await readFile(join(repository, '.github/workflows/gateway.yml'), 'utf8');
  jobs = (parse(workflow) as { jobs: Record<string, Job> }).jobs;
});
afterAll(async () => {
  await Promise.all(Object.values(gateways).map((one) => one.stop()));
  await command.close();
  await rm(directory, { recursive: true, force: true });
});

const PATH = () => [join(directory, 'bin'), process.env['PATH'] ?? ''].join(':');

/** What `${{ … }}` stands for; a name that nobody knows is a mistake in the workflow. */
function substitute(value: string, environment: Environment): string {
  const known: Record<string, string> = {
    'matrix.environment': environment,
    'vars.GATEWAY_SERVER': gateways[environment].url,
    'secrets.GATEWAY_API_KEY': gateways[environment].adminKey,
    'secrets.OPENAI_API_KEY': environment === 'production' ? 'sk-canary-of-production' : '',
    'github.event.pull_request.number': '7',
    'github.token': 'token-of-the-run',
  };
  return value.replace(/\$\{\{ (.*?) \}\}/g, (_whole, name: string) => {
    if (known[name] === undefined) throw new Error(`nobody knows ${name}`);
    return known[name];
  });
}

/** Runs the `run` blocks of a job as a runner does; the first that fails ends it. */
async function runJob(name: string, environment: Environment) {
  const job = jobs[name]!;
  let said = '';
  for (const { run, env = {} } of job.steps) {
    if (run === undefined) continue;
    const declared = Object.entries({ ...job.env, ...env }).map(([key, value]) => [
      key,
      substitute(value, environment),
    ]);
    const done = await execa('bash', ['-e', '-c', run], {
      cwd: repository,
      env: {
        PATH: PATH(),
        HOME: directory,
        CI: 'true',
        GATEWAY_DRAIN_IDLE: '50ms',
        GITHUB_STEP_SUMMARY: join(directory, `summary-${environment}.md`),
        ...(Object.fromEntries(declared) as Record<string, string>),
      },
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
    });
    said += `${done.stdout}\n${done.stderr}\n`;
    if (done.exitCode !== 0) return { exitCode: done.exitCode, said };
  }
  return { exitCode: 0, said };
}

async function runForAll(name: string) {
  const ran: Record<string, Awaited<ReturnType<typeof runJob>>> = {};
  for (const environment of jobs[name]!.strategy.matrix.environment as Environment[]) {
    ran[environment] = await runJob(name, environment);
    expect(ran[environment].exitCode, ran[environment].said).toBe(0);
  }
  return ran;
}

async function models(environment: Environment) {
  const { body } = await gateways[environment].admin('GET', '/admin/v1/models');
  return body.data as { id: string; name: string; description: string; routes: object[] }[];
}

describe('the workflow of the template gitops', { timeout: 600_000 }, () => {
  it('runs each job at its event, with the actions that are pinned to a version', () => {
    expect(Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, job.if]))).toEqual({
      validate: "github.event_name == 'pull_request'",
      plan: 'github.event.pull_request.head.repo.full_name == github.repository',
      apply: "github.event_name == 'push'",
      drift: "github.event_name == 'schedule'",
    });
    for (const { steps } of Object.values(jobs)) {
      for (const { uses } of steps) expect(uses ?? 'none@v1').toMatch(/@v\d+$/);
    }
  });

  it(
    verifies(
      'templates.work',
      'cli.validate.offline',
      'validates a pull request without a server or a secret, and comments the plan',
    ),
    async () => {
      expect(Object.keys(jobs['validate']!.env ?? {})).toEqual(['GATEWAY_OVERLAY']);
      await runForAll('validate');
      const planned = await runForAll('plan');
      const comment = await readFile(join(directory, 'comment-7.md'), 'utf8');
      expect(comment).toMatch(/^## staging\n[^]*team\/assistant[^]*^## production\n[^]*openai/m);
      expect(comment + JSON.stringify(planned)).not.toContain('canary');
      expect(await models('staging')).toEqual([]);
    },
  );

  it(
    verifies(
      'cli.plan.file',
      'cli.apply.idempotent',
      'applies the saved plan to each environment at a merge, and nothing at the next',
    ),
    async () => {
      const first = await runForAll('apply');
      expect(first['staging']?.said).toContain('5 applied, 0 failed');
      expect(first['production']?.said).toContain('6 applied, 0 failed');
      expect(JSON.stringify(first)).not.toContain('canary');
      expect(await models('staging')).toMatchObject([
        { description: "What the team's agents are tried with", routes: [{ provider: 'mock' }] },
      ]);
      expect(await models('production')).toMatchObject([
        { routes: [{ provider: 'openai' }, { provider: 'mock', priority: 1 }] },
      ]);
      const summary = await readFile(join(directory, 'summary-production.md'), 'utf8');
      expect(summary).toContain('team/assistant');
      expect((await runJob('apply', 'staging')).said).toContain('no changes');
    },
  );

  it(
    verifies(
      'cli.drift',
      'templates.gitops.drift',
      'fails at night when somebody changed or deleted what the files declare',
    ),
    async () => {
      await runForAll('drift');
      const [changed] = await models('production');
      const [deleted] = await models('staging');
      await gateways.production.admin('PATCH', `/admin/v1/models/${changed?.id}`, {
        description: 'by hand',
      });
      await gateways.staging.admin('DELETE', `/admin/v1/models/${deleted?.id}`);
      for (const [environment, why] of [
        ['production', 'by hand'],
        ['staging', 'deleted on the server'],
      ] as const) {
        const drifted = await runJob('drift', environment);
        expect([drifted.exitCode, drifted.said]).toEqual([2, expect.stringContaining(why)]);
      }
    },
  );

  it(
    verifies(
      'templates.gitops.drift',
      'restores what drifted, and removes what a commit confirms by number',
    ),
    async () => {
      const apply = () => runJob('apply', 'staging');
      const keys = join(repository, 'config/keys.yaml');
      await writeFile(keys, 'keys: [{ name: one }, { name: two }]\n');
      expect((await apply()).exitCode).toBe(0);
      expect((await runJob('drift', 'staging')).exitCode).toBe(0);
      const git = (...words: string[]) =>
        execa('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...words], {
          cwd: repository,
        });
      await git('init', '-q');
      await writeFile(keys, 'keys: [{ name: two }]\n');
      const commit = async (message: string) => {
        await git('add', '-A');
        await git('commit', '-q', '--allow-empty', '-m', message);
      };
      await commit('Remove a key');
      const refused = await apply();
      expect([refused.exitCode, refused.said]).toEqual([
        64,
        expect.stringContaining('--confirm-prune 1'),
      ]);
      await commit('Remove a key\n\nConfirm-Prune: 1');
      const done = await apply();
      expect([done.exitCode, done.said]).toEqual([
        0,
        expect.stringContaining('1 applied, 0 failed'),
      ]);
      await rm(keys);
    },
  );

  it('stops a pull request that is wrong, at the line of the overlay', async () => {
    const overlay = join(repository, 'overlays/production.yaml');
    const text = await readFile(overlay, 'utf8');
    await writeFile(overlay, text.replace('upstream_model: gpt', 'upstream_modell: gpt'));
    const { exitCode, said } = await runJob('validate', 'production');
    expect(exitCode).toBe(3);
    expect(said).toMatch(/::error file=overlays\/production.yaml,line=16,col=9::.*upstream_modell/);
  });
});
