import { describe, expect, it } from 'vitest';
import { readActual } from '../../../src/config/apply/apply.ts';
import { deploy, type DeployOptions, type Planned } from '../../../src/config/apply/deploy.ts';
import { ownerFor, plan } from '../../../src/config/plan/plan.ts';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { FakeServer } from '../fake-server.ts';
import { memoryFiles } from '../memory-files.ts';

const FILE = `
version: 1
namespace: team
providers: [{ name: openai, type: openai, api_key: "\${secret:env:KEY}" }]
models: [{ name: a/b, routes: [{ provider: openai }] }]
`;
const WRITES = ['create provider openai', 'create model a/b'];

/** Carries FILE out, and tells what was done in its order. */
async function run(
  server: FakeServer,
  options: Partial<DeployOptions<Planned, string>> = {},
  env: Record<string, string> = { KEY: 'sk-canary' },
) {
  const files = memoryFiles({ '/gw/gateway.yaml': FILE });
  const { config } = await loadConfig({
    paths: ['/gw/gateway.yaml'],
    env: { KEY: 'sk-canary' },
    cwd: '/gw',
    files,
  });
  const { desired } = config!;
  const steps: string[] = [];
  server.writes.length = 0;
  const deployed = await deploy<Planned, string>({
    desired,
    sources: { env, files },
    async plan(secrets) {
      steps.push(`plan with ${[...secrets.values()].join()}`);
      const planning = {
        desired,
        actual: await readActual(server, desired),
        mode: 'apply' as const,
      };
      const { actual } = planning;
      const owner = ownerFor(planning);
      return { plan: plan(planning), desired, owner, client: server, actual };
    },
    async confirm() {
      steps.push(`confirm after ${server.writes.length} writes`);
      return true;
    },
    progress: ({ summary }) => {
      steps.push(`write ${summary.total}`);
      return ({ identity }, what) => steps.push(`${identity} ${what}`);
    },
    async wait(_planned, report) {
      steps.push(`wait for ${report.applied.length}`);
      return 'served';
    },
    ...options,
  });
  return { ...deployed, steps };
}

describe('deploy', () => {
  it('resolves, plans, asks, writes and waits, in this order', async () => {
    const server = new FakeServer();
    const { steps, waited, diagnostics } = await run(server);
    expect(steps).toEqual([
      'plan with sk-canary',
      'confirm after 0 writes',
      'write 2',
      'openai applied',
      'a/b applied',
      'wait for 2',
    ]);
    expect(server.writes).toEqual(WRITES);
    expect([waited, diagnostics]).toEqual(['served', []]);
  });

  it('neither reads nor writes anything without all secrets', async () => {
    const server = new FakeServer();
    const { steps, diagnostics, planned } = await run(server, {}, {});
    expect(diagnostics).toHaveLength(1);
    expect([steps, planned, server.writes]).toEqual([[], undefined, []]);
  });

  it('writes nothing that is not confirmed, or is refused', async () => {
    const server = new FakeServer();
    const { planned, report } = await run(server, { confirm: async () => false });
    expect(planned?.plan.summary.total).toBe(2);
    expect([report, server.writes]).toEqual([undefined, []]);
    const confirm = () => Promise.reject(new Error('declined'));
    await expect(run(server, { confirm })).rejects.toThrow('declined');
    expect(server.writes).toEqual([]);
  });

  it('waits for nothing when nothing was written, or not all of it', async () => {
    const server = new FakeServer();
    await run(server);
    const again = await run(server);
    expect(again.report?.applied).toEqual([]);
    expect([again.waited, again.steps.at(-1)]).toEqual([undefined, 'write 0']);
    const broken = new FakeServer();
    broken.fault = { on: 'create', name: 'openai', how: 'refused' };
    const { report, waited } = await run(broken);
    expect(report?.failed).toHaveLength(1);
    expect(waited).toBeUndefined();
  });
});
