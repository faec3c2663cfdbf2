import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
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

let gateway: TestGateway;
let proxy: CountingProxy;
let cwd: string;
beforeEach(async () => {
  cwd = await emptyDirectory();
  await writeFile(join(cwd, 'gateway.yaml'), BEFORE);
  await writeFile(join(cwd, 'after.yaml'), AFTER);
  await begin();
});
afterEach(end);

/** Interrupted commands: each tries its write a few times more, to no effect, beside what comes next. */
const ends: Promise<unknown>[] = [];
afterAll(() => Promise.all(ends));

const WORDS = ['apply', '-f', 'after.yaml', '--prune', '--yes', '--parallelism', '1'];
const environment = (server: string) => ({
  GATEWAY_SERVER: server,
  GATEWAY_API_KEY: gateway.adminKey,
});
const cli = (server: string, ...argv: string[]) => runCli(argv, { cwd, env: environment(server) });

/** A gateway to which the first files were applied, and a proxy before it. */
async function begin(): Promise<void> {
  gateway = await startGateway();
  proxy = await startCountingProxy(gateway.url);
  expect((await cli(gateway.url, 'apply', '--yes')).code).toBe(0);
}

async function end(): Promise<void> {
  await proxy.close();
  await gateway.stop();
}

async function beginAgain(): Promise<void> {
  await end();
  await begin();
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

async function expectCompleted(title: string): Promise<void> {
  const again = await cli(gateway.url, ...WORDS);
  expect(again.code, `${title}: ${again.stderr}${again.stdout}`).toBe(0);
  await expectApplied();
}

/** Which requests of the whole apply write. */
async function rehearse(): Promise<number[]> {
  const done = await cli(proxy.url, ...WORDS);
  expect([done.code, done.stderr]).toEqual([0, expect.any(String)]);
  await expectApplied();
  const writes = proxy.seen.flatMap(({ method }, index) => (method === 'GET' ? [] : [index]));
  expect(writes.length).toBeGreaterThanOrEqual(9);
  return writes;
}

/** Runs the command up to a request that stays without an answer; gives what ends it. */
async function heldAt(index: number): Promise<() => Promise<unknown>> {
  const signals = new EventEmitter();
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const reached = new Promise<void>((resolve) => {
    proxy.fate = (_request, now) => {
      if (now < index) return undefined;
      resolve();
      return { before: released, cut: 'before' };
    };
  });
  const run = runCli(WORDS, { cwd, env: environment(proxy.url), signals });
  await reached;
  return () => {
    signals.emit('SIGINT');
    release();
    return run;
  };
}

/** Runs the command as a process of its own that is killed at a request. */
async function killedAt(index: number, cut: 'before' | 'after'): Promise<void> {
  const child = spawn(process.execPath, [BINARY, ...WORDS], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, ...environment(proxy.url) },
    stdio: 'ignore',
  });
  proxy.fate = (_request, now) => {
    if (now < index) return undefined;
    return { cut: now > index ? 'before' : cut, done: () => void child.kill('SIGKILL') };
  };
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
}

/** Of the writes, one after the other, so that each has some of every kind. */
const THIRDS = [0, 1, 2];

describe('an apply that is interrupted', () => {
  // What a command did before a write is what the gateway knows then: it keeps no file.
  it(
    verifies(
      'cli.apply.partial',
      'cli.apply.rebind',
      'that comes no further than any of its writes is completed by the next one',
    ),
    async () => {
      const writes = await rehearse();
      const turns = inTurn('writes at which an apply is held', THIRDS);
      for (const index of writes.filter((_, at) => turns.includes(at % THIRDS.length))) {
        await beginAgain();
        const endHeld = await heldAt(index);
        await expectCompleted(`held at ${index}`);
        ends.push(endHeld());
      }
    },
  );

  it(
    verifies(
      'cli.apply.partial',
      'killed before or after the gateway acted, is completed by the next one',
    ),
    async () => {
      const writes = await rehearse();
      for (const [at, cut] of [
        [1, 'after'],
        [-2, 'before'],
      ] as const) {
        await beginAgain();
        await killedAt(writes.at(at) ?? 0, cut);
        await expectCompleted(`killed ${cut} ${at}`);
      }
    },
  );

  // Of two that differ in their turn, one breaks each write at its first try.
  it.each([
    ['before', 0],
    ['after', 0],
    ['after', 1],
  ] as const)(
    verifies(
      'cli.apply.ambiguous-create',
      'whose connection breaks %s every other write completes itself and makes nothing twice (from %i)',
    ),
    async (cut, turn) => {
      let [tries, cuts] = [0, 0];
      proxy.fate = ({ method }) => {
        if (method === 'GET' || tries++ % 2 !== turn) return undefined;
        cuts++;
        return { cut };
      };
      const done = await cli(proxy.url, ...WORDS);
      expect(done.code, `${done.stderr}${done.stdout}`).toBe(0);
      expect(cuts).toBeGreaterThanOrEqual(cut === 'before' ? 9 : 4);
      await expectApplied();
    },
  );
});
