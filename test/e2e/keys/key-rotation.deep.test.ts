import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { verifies } from '../../requirements.ts';
import { newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const HOUR = 3_600_000;
const REVOKED = { status: 401, body: { error: 'API key has been revoked' } };
const FIRST = 'sk-declared-in-the-environment-0123456789';
const CONFIG = {
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'acme/fast', routes: [{ provider: 'mock', pricing: { per_call: '0.25' } }] }],
};
const TEAM = `version: 1
namespace: team
keys:
  - name: ci
    value: "\${secret:env:CI_KEY}"
    labels: { tier: gold }
    spending_limit: { lifetime: "0.75" }
`;

/** A gateway on a data directory of its own, and the command line that talks to it. */
interface Stage {
  gateway: TestGateway;
  cwd: string;
  /** Output without its last line end. */
  cli(...argv: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }>;
}

async function openStage(directory: string, laterMs = 0): Promise<Stage> {
  const store = { driver: 'lmdb' };
  const clock = { ...systemClock, now: () => systemClock.now() + laterMs };
  const gateway = await startGateway({ ...CONFIG, server: { store } }, { directory, clock });
  const cwd = await emptyDirectory();
  const env = {
    HOME: cwd,
    GATEWAY_SERVER: gateway.url,
    GATEWAY_API_KEY: gateway.adminKey,
    CI_KEY: FIRST,
  };
  const cli = async (...argv: string[]) => {
    const { code, stdout, stderr } = await runCli(argv, { cwd, env });
    return { exitCode: code, stdout: stdout.trimEnd(), stderr };
  };
  await writeFile(join(cwd, 'team.yaml'), TEAM);
  return { gateway, cwd, cli };
}

describe('gateway keys rotate', () => {
  let directory: string;
  let stage: Stage;
  beforeEach(async () => {
    directory = await newDirectory();
    stage = await openStage(directory);
    const { cli } = stage;
    expect(await cli('apply', '-f', 'team.yaml', '--yes')).toMatchObject({ exitCode: 0 });
  });
  afterEach(async () => {
    await stage.gateway.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const ask = (key: string) => stage.gateway.call('GET', '/v1/models', { key });

  it(
    verifies(
      'cli.keys.rotate',
      'prints a new value once; the old one works for a day, also for a gateway that was restarted',
    ),
    async () => {
      const { exitCode, stdout: second, stderr } = await stage.cli('keys', 'rotate', 'ci');
      expect([exitCode, second]).toEqual([0, expect.stringMatching(/^sk-[0-9a-f]{64}$/)]);
      const shown = JSON.parse((await stage.cli('keys', 'get', 'ci', '-o', 'json')).stdout).data;
      expect(Date.parse(shown.former_until) - Date.parse(shown.rotated_at)).toBe(24 * HOUR);
      expect(stderr).toContain(`works until ${shown.former_until}`);
      expect(JSON.stringify(shown)).not.toContain(second);
      expect([(await ask(FIRST)).status, (await ask(second)).status]).toEqual([200, 200]);
      await stage.gateway.stop();
      stage = await openStage(directory, 23 * HOUR);
      expect([(await ask(FIRST)).status, (await ask(second)).status]).toEqual([200, 200]);
      await stage.gateway.stop();
      stage = await openStage(directory, 24 * HOUR);
      expect(await ask(FIRST)).toMatchObject(REVOKED);
      expect((await ask(second)).status).toBe(200);
      const again = await stage.cli('keys', 'rotate', 'ci', '--overlap', '0');
      expect([await ask(second), (await ask(again.stdout)).status]).toMatchObject([REVOKED, 200]);
    },
    60_000,
  );

  it(
    verifies(
      'cli.keys.rotate.one-object',
      'leaves one key: one id, limit, sum of usage and set of labels; plan and drift show nothing',
    ),
    async () => {
      const before = JSON.parse((await stage.cli('keys', 'get', 'ci', '-o', 'json')).stdout).data;
      const second = (await stage.cli('keys', 'rotate', 'ci')).stdout;
      const { gateway, cli } = stage;
      expect((await gateway.chat('acme/fast', { key: FIRST })).status).toBe(200);
      expect((await gateway.chat('acme/fast', { key: second })).status).toBe(200);
      expect((await gateway.chat('acme/fast', { key: FIRST })).status).toBe(200);
      for (const key of [FIRST, second])
        expect(await gateway.chat('acme/fast', { key })).toMatchObject({ status: 402 });
      const usage = JSON.parse((await cli('usage', '--by', 'key', '-o', 'json')).stdout).data;
      expect(usage).toMatchObject([{ key: before.id, cost: '0.75' }]);
      const after = JSON.parse((await cli('keys', 'get', 'ci', '-o', 'json')).stdout).data;
      const { id, labels, spending_limit, organization } = before;
      expect(after).toMatchObject({ id, labels, spending_limit, organization });
      const keys = JSON.parse((await cli('keys', 'list', '-o', 'json')).stdout).data;
      expect(keys.filter(({ name }: { name: string }) => name === 'ci')).toHaveLength(1);
      for (const command of ['plan', 'drift']) {
        const run = await cli(command, '-f', 'team.yaml', '--exit-code');
        expect([run.exitCode, run.stderr], command).toEqual([0, '']);
      }
      expect((await cli('apply', '-f', 'team.yaml', '--yes')).exitCode).toBe(0);
      expect((await ask(second)).status).toBe(200);
    },
    60_000,
  );

  it('never has more than two values: exit 5 until it is said which one ends', async () => {
    const second = (await stage.cli('keys', 'rotate', 'ci')).stdout;
    const refused = await stage.cli('keys', 'rotate', 'ci');
    expect([refused.exitCode, refused.stdout]).toEqual([5, '']);
    expect(refused.stderr).toMatch(/works until .*at most two values/);
    expect([(await ask(FIRST)).status, (await ask(second)).status]).toEqual([200, 200]);
    const third = await stage.cli('keys', 'rotate', 'ci', '--end', 'current');
    expect(await ask(second)).toMatchObject(REVOKED);
    expect([(await ask(FIRST)).status, (await ask(third.stdout)).status]).toEqual([200, 200]);
    await stage.cli('keys', 'revoke', 'ci', '--yes');
    expect([await ask(FIRST), await ask(third.stdout)]).toMatchObject([REVOKED, REVOKED]);
    expect((await stage.cli('keys', 'rotate', 'ci')).exitCode).toBe(5);
  }, 60_000);

  it('leaves a key that the gateway reads from its own file without a warning at start', async () => {
    await stage.gateway.stop();
    const own = { ...CONFIG, keys: [{ name: 'own', value: '${secret:env:OWN}' }] };
    const store = { driver: 'lmdb' };
    const start = () =>
      startGateway({ ...own, server: { store } }, { directory, env: { OWN: FIRST.slice(1) } });
    let gateway = await start();
    const rotated = await gateway.admin('POST', '/admin/v1/keys/own/rotate', { overlap: '1h' });
    await gateway.stop();
    gateway = await start();
    try {
      expect(gateway.log()).not.toContain('another value');
      const answers = [FIRST.slice(1), rotated.body.value].map(async (key: string) =>
        gateway.call('GET', '/v1/models', { key }),
      );
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
    } finally {
      await gateway.stop();
    }
  });
});

describe('gateway keys update', () => {
  let directory: string;
  let stage: Stage;
  beforeAll(async () => {
    directory = await newDirectory();
    stage = await openStage(directory);
  });
  afterAll(async () => {
    await stage.gateway.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const update = async (line: string) => {
    const run = await stage.cli('keys', 'update', ...line.split(' '), '-o', 'json');
    return { ...run, ...JSON.parse(run.stdout) };
  };

  it(
    verifies(
      'cli.keys.update',
      'changes name, limits, expiry and labels, validated as in the file, and no revoked key',
    ),
    async () => {
      const { cli } = stage;
      await cli('keys', 'create', 'app', '--spending-limit-month', '20', '--rpm-cap', '9');
      const limits = '--spending-limit-day 2.5 --concurrency-cap 3';
      const labels = '--label team=core --label old=1';
      const uses = '--scope inference --allowed-model acme/*';
      const expiry = '--expires-at 2031-01-01T00:00:00Z';
      const changed = await update(`app --name build ${limits} ${labels} ${uses} ${expiry}`);
      expect(changed).toMatchObject({
        exitCode: 0,
        data: {
          name: 'build',
          spending_limit: { day: '2.50', month: '20.00' },
          rpm_cap: 9,
          concurrency_cap: 3,
          expires_at: '2031-01-01T00:00:00.000Z',
          labels: { team: 'core', old: '1' },
          scopes: ['inference'],
          allowed_models: ['acme/*'],
        },
      });
      const none = ['spending-limit-month', 'rpm-cap', 'expiry', 'scopes'];
      const flags = none.map((field) => `--clear ${field}`).join(' ');
      const cleared = await update(`build ${flags} --label old-`);
      expect(cleared.data).toMatchObject({
        spending_limit: { day: '2.50' },
        rpm_cap: null,
        expires_at: null,
        scopes: null,
        labels: { team: 'core' },
      });
      const unknown = await update('build --scope everything');
      expect(unknown).toMatchObject({ exitCode: 64, error: { code: 'usage' } });
      for (const wrong of [
        'build --rpm-cap 0',
        'build --spending-limit ten',
        'build --expires-at tomorrow',
        'build --label gateway/owner=me',
        'build --rpm-cap 3 --clear rpm-cap',
        'build',
      ])
        expect((await update(wrong)).exitCode, wrong).toBe(64);
      await cli('keys', 'revoke', 'build', '--yes');
      const refused = await update('build --rpm-cap 3');
      expect(refused).toMatchObject({ exitCode: 5, error: { code: 'key_revoked' } });
    },
    60_000,
  );

  it('says whose a key is that a namespace owns, and changes it when it is forced to', async () => {
    expect((await stage.cli('apply', '-f', 'team.yaml', '--yes')).exitCode).toBe(0);
    const refused = await update('ci --rpm-cap 3');
    expect(refused).toMatchObject({ exitCode: 5, error: { code: 'owned' } });
    expect(refused.error.message).toContain('the namespace team');
    const forced = await update('ci --rpm-cap 3 --force');
    expect(forced).toMatchObject({ exitCode: 0, data: { rpm_cap: 3 } });
  });
});
