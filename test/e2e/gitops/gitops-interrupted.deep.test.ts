import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { verifies } from '../../requirements.ts';
import { startCountingProxy, type CountingProxy } from '../../support/stage/counting-proxy.ts';
import { BINARY, startGateway, type TestGateway } from '../../support/gateway.ts';

const HEAD = `version: 1
namespace: team
providers:
  - { name: echo, type: mock }
`;
const BEFORE = `${HEAD}models:
  - { name: team/one, routes: [{ provider: echo }] }
  - { name: team/gone, routes: [{ provider: echo }] }
agents:
  - { name: clerk, model: team/one, system: Be brief. }
deployments:
  - name: report
    agent_id: "\${ref:agent.clerk.id}"
    initial_events: [{ type: user.message, content: [{ type: text, text: Report. }] }]
    schedule: { type: cron, expression: "0 9 * * *", timezone: UTC }
`;
/** A creation of what has a name of its own and of what has not, an update, a rebinding, a removal. */
const AFTER = `${BEFORE.replace(/.*team\/gone.*\n/, '').replace('Be brief.', 'Be kind.')}services:
  - { name: desk, slug: desk, agent_id: "\${ref:agent.clerk.id}", protocols: [rest] }
`
  .replace('models:', 'models:\n  - { name: team/two, routes: [{ provider: echo }] }')
  .replace('agents:', 'agents:\n  - { name: second, model: team/two }');

/** Dozens of gateways and processes one after the other, on a machine that others use as well. */
const SLOW = 900_000;

let gateway: TestGateway;
let proxy: CountingProxy;
let cwd: string;
beforeEach(async () => {
  [gateway, cwd] = await Promise.all([startGateway(), emptyDirectory()]);
  proxy = await startCountingProxy(gateway.url);
});
afterEach(async () => {
  await proxy.close();
  await gateway.stop();
});

const WORDS = ['--prune', '--yes', '--parallelism', '1'];
const environment = (server: string) => ({
  GATEWAY_SERVER: server,
  GATEWAY_API_KEY: gateway.adminKey,
});
const cli = (server: string, ...argv: string[]) => runCli(argv, { cwd, env: environment(server) });

async function begin(): Promise<void> {
  await writeFile(join(cwd, 'gateway.yaml'), BEFORE);
  await writeFile(join(cwd, 'after.yaml'), AFTER);
  expect((await cli(gateway.url, 'apply', '--yes')).code).toBe(0);
}

async function expectApplied(): Promise<void> {
  const plan = await cli(gateway.url, 'plan', '-f', 'after.yaml', '--prune', '-o', 'json');
  expect(plan.json().data.summary).toMatchObject({ total: 0, none: 7 });
  const names: string[] = [];
  for (const kind of ['models', 'agents', 'services', 'deployments']) {
    const { body } = await gateway.admin('GET', `/admin/v1/${kind}`);
    names.push(...body.data.map(({ name }: { name: string }) => `${kind} ${name}`));
    for (const one of body.data) if (kind === 'deployments') expect(one.status).toBe('active');
  }
  expect(names.sort()).toEqual([
    'agents clerk',
    'agents second',
    'deployments report',
    'models team/one',
    'models team/two',
    'services desk',
  ]);
}

/** How many requests the whole apply makes, and which of them write. */
async function rehearse(): Promise<number[]> {
  await begin();
  const done = await cli(proxy.url, 'apply', '-f', 'after.yaml', ...WORDS);
  expect([done.code, done.stderr]).toEqual([0, expect.any(String)]);
  await expectApplied();
  return proxy.seen.flatMap(({ method }, index) => (method === 'GET' ? [] : [index]));
}

/** Runs the command as a process of its own that is killed at a request. */
async function killedAt(index: number, cut: 'before' | 'after'): Promise<void> {
  const child = spawn(process.execPath, [BINARY, 'apply', '-f', 'after.yaml', ...WORDS], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, ...environment(proxy.url) },
    stdio: 'ignore',
  });
  const from = proxy.seen.length;
  proxy.fate = (_request, now) => {
    if (now - from < index) return undefined;
    return { cut: now - from > index ? 'before' : cut, done: () => void child.kill('SIGKILL') };
  };
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
}

describe('an apply that is interrupted', () => {
  it(
    verifies(
      'cli.apply.partial',
      'cli.apply.rebind',
      'killed at any of its writes, before or after the gateway acted, is completed by the next one',
    ),
    async () => {
      const writes = await rehearse();
      expect(writes.length).toBeGreaterThanOrEqual(9);
      const first = writes[0] ?? 0;
      for (const index of [first - 1, ...writes]) {
        for (const cut of ['before', 'after'] as const) {
          await gateway.stop();
          await proxy.close();
          gateway = await startGateway();
          proxy = await startCountingProxy(gateway.url);
          await begin();
          await killedAt(index, cut);
          const again = await cli(gateway.url, 'apply', '-f', 'after.yaml', ...WORDS);
          expect(again.code, `${index} ${cut}: ${again.stderr}${again.stdout}`).toBe(0);
          await expectApplied();
        }
      }
    },
    SLOW,
  );

  it(
    verifies(
      'cli.apply.ambiguous-create',
      'whose connection breaks at any write goes on by itself and makes nothing twice',
    ),
    async () => {
      const writes = await rehearse();
      for (const index of writes) {
        for (const cut of ['before', 'after'] as const) {
          await gateway.stop();
          await proxy.close();
          gateway = await startGateway();
          proxy = await startCountingProxy(gateway.url);
          await begin();
          proxy.fate = (_request, now) => (now === index ? { cut } : undefined);
          const done = await cli(proxy.url, 'apply', '-f', 'after.yaml', ...WORDS);
          expect(done.code, `${index} ${cut}: ${done.stdout}`).toBe(0);
          await expectApplied();
        }
      }
    },
    SLOW,
  );
});
