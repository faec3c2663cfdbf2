import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { type Seen, startCountingProxy } from '../../support/stage/counting-proxy.ts';
import { BINARY, startGateway, type TestGateway } from '../../support/gateway.ts';

/** One of every kind that a namespace can own without secrets of others, and one that is protected. */
const FILE = `version: 1
namespace: NAME
organizations: [{ name: acme }]
providers: [{ name: echo, type: mock }]
apis: [{ name: weather, base_url: "https://weather.example" }]
models:
  - { name: t/one, routes: [{ provider: echo }], labels: { team: blue } }
  - { name: t/two, routes: [{ provider: echo }], lifecycle: { protected: true } }
keys: [{ name: ci, organization: acme, rpm_cap: 5 }]
skills: [{ name: review, files: { SKILL.md: "---\\nname: review\\ndescription: Reviews.\\n---\\nRead." } }]
agents: [{ name: clerk, model: t/one, skills: [{ type: custom, skill_id: "\${ref:skill.review.id}" }] }]
credentials:
  - { name: token, agent_id: "\${ref:agent.clerk.id}", scope: mcp, scope_name: docs, secret_key: T, value: "\${secret:env:TOKEN}" }
services: [{ name: desk, slug: desk, agent_id: "\${ref:agent.clerk.id}", protocols: [rest] }]
deployments:
  - name: report
    agent_id: "\${ref:agent.clerk.id}"
    initial_events: [{ type: user.message, content: [{ type: text, text: Go. }] }]
    schedule: { type: cron, expression: "0 9 * * *", timezone: UTC }
    paused: true
`;
const OBJECTS = 11;
/** Enough of them to stop between any two. */
const SMALL = FILE.replace(
  /^(organizations|apis|keys|skills|credentials|services|  - \{ name: token).*\n/gm,
  '',
).replace(/, skills: .*\}\]/, ' }]');
const SMALL_OBJECTS = 5;
const KINDS =
  'organizations providers apis models keys skills agents credentials services deployments'.split(
    ' ',
  );

/** Dozens of gateways and processes one after the other, on a machine that others use as well. */
const SLOW = 900_000;

let gateway: TestGateway;
let cwd: string;
beforeEach(async () => {
  [gateway, cwd] = await Promise.all([startGateway(), emptyDirectory()]);
  for (const name of ['a', 'b']) {
    await writeFile(join(cwd, `${name}.yaml`), FILE.replace('NAME', name));
  }
});
afterEach(() => gateway.stop());

const environment = (server = gateway.url) => ({
  GATEWAY_SERVER: server,
  GATEWAY_API_KEY: gateway.adminKey,
  TOKEN: 'token-123',
});
const cli = (...argv: string[]) => runCli(argv, { cwd, env: environment() });
const rename = ['transfer', '--all', '--from', 'a', '--to', 'b', '--yes'];

/** Gives the value of the key that was made. */
async function applied(file: string): Promise<string | undefined> {
  const done = await cli('apply', '-f', file, '--yes', '-o', 'json');
  expect(done.code, done.stderr).toBe(0);
  return done.json().data.issued[0]?.value;
}

interface Shown {
  id: string;
  name: string;
  version: number;
  labels: Record<string, string>;
}

/** Every object by kind and name, but for what a change of labels changes of it. */
async function everything(): Promise<Record<string, object>> {
  const found: Record<string, object> = {};
  for (const kind of KINDS) {
    const { body } = await gateway.admin('GET', `/admin/v1/${kind}?limit=100`);
    for (const { version: _version, ...one } of body.data as Shown[]) {
      const labels = { ...one.labels, 'gateway/namespace': undefined };
      found[`${kind} ${one.name}`] = { ...one, labels, updated_at: undefined };
    }
  }
  return found;
}

async function owners(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of KINDS) {
    const { body } = await gateway.admin('GET', `/admin/v1/${kind}?limit=100`);
    for (const { labels } of body.data as Shown[]) {
      const owner = labels['gateway/namespace'] ?? 'nobody';
      counts[owner] = (counts[owner] ?? 0) + 1;
    }
  }
  return counts;
}

async function inventories(): Promise<Record<string, number>> {
  const { body } = await gateway.admin('GET', '/admin/v1/inventories');
  const all = body.data as { name: string; objects: unknown[] }[];
  return Object.fromEntries(all.map(({ name, objects }) => [name, objects.length]));
}

async function planned(file: string, ...flags: string[]) {
  const { code, stderr, json } = await cli('plan', '-f', file, '-o', 'json', ...flags);
  expect([code, stderr]).toEqual([0, '']);
  return json().data as { summary: object; actions: { reason: string }[]; unknown: unknown[] };
}

/** Everything is of b, as its file declares it, and nothing of it is new. */
async function expectRenamed(before: Record<string, object>, none = OBJECTS): Promise<void> {
  expect(await everything()).toEqual(before);
  expect(await inventories()).toEqual({ b: none });
  const plan = await planned('b.yaml', '--prune');
  expect(plan.summary).toMatchObject({ total: 0, none });
  expect(plan.unknown).toEqual([]);
  const old = await planned('a.yaml', '--prune');
  expect(old.summary).toMatchObject({ total: 0, none });
  for (const { reason } of old.actions) expect(reason).toContain('managed by namespace b');
}

/** The same without plans, which are made of these facts. */
async function expectMoved(before: Record<string, object>): Promise<void> {
  expect(await everything()).toEqual(before);
  // Nobody owns what the first start made.
  expect(await owners()).toEqual({ nobody: expect.any(Number), b: SMALL_OBJECTS });
  expect(await inventories()).toEqual({ b: SMALL_OBJECTS });
}

describe('a namespace that is renamed', () => {
  it(
    verifies(
      'cli.transfer',
      'keeps its objects, what is known of them, and its keys; the old file neither changes nor removes them',
    ),
    async () => {
      const value = await applied('a.yaml');
      const before = await everything();
      const dry = await cli(...rename, '--dry-run', '-o', 'json');
      expect(dry.json().data).toMatchObject({ to: 'b', done: false, already: 0 });
      expect(dry.json().data.objects).toHaveLength(OBJECTS);
      expect(await inventories()).toEqual({ a: OBJECTS });
      const unasked = await cli(...rename.slice(0, -1));
      expect([unasked.code, unasked.stderr]).toEqual([64, expect.stringContaining('--yes')]);

      const done = await cli(...rename);
      expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('11 moved to b')]);
      await expectRenamed(before);
      const shown = await cli('plan', '-f', 'a.yaml');
      expect(shown.stdout).toContain('model t/one  (as declared; managed by namespace b)');
      const calls = await fetch(`${gateway.url}/v1/models`, {
        headers: { authorization: `Bearer ${value}` },
      });
      expect(calls.status).toBe(200);

      // Nothing is declared any more in the old file, and the new one still resets and finds drift.
      await writeFile(join(cwd, 'a.yaml'), 'version: 1\nnamespace: a\nmodels: []\nkeys: []\n');
      expect((await planned('a.yaml', '--prune')).summary).toMatchObject({ total: 0 });
      await writeFile(
        join(cwd, 'b.yaml'),
        FILE.replace('NAME', 'b').replace(', rpm_cap: 5', '').replace('labels: { team: blue }', ''),
      );
      const reset = await cli('plan', '-f', 'b.yaml');
      expect(reset.stdout).toContain('rpm_cap: 5 → null  (no longer declared)');
      expect(reset.stdout).toContain('labels["team"]');
      expect((await cli('services', 'delete', 'desk', '--yes')).code).toBe(0);
      const drift = await cli('drift', '-f', 'b.yaml', '--exit-code');
      expect([drift.code, drift.stdout]).toEqual([
        2,
        expect.stringContaining('- service default/desk'),
      ]);

      const again = await cli(...rename);
      expect([again.code, again.stdout]).toEqual([
        0,
        expect.stringMatching(/^nothing belongs to namespace a\n0 moved to b/),
      ]);
      const unknown = await cli('transfer', '--all', '--from', 'x', '--to', 'y', '--yes');
      expect([unknown.code, unknown.stderr]).toEqual([
        1,
        expect.stringMatching(
          /nothing belongs to namespace x[\s\S]*did you mean b\?; `gateway dump --all-namespaces/,
        ),
      ]);
      await writeFile(
        join(cwd, 'c.yaml'),
        'version: 1\nnamespace: others\norganizations: [{ name: o9 }]\n',
      );
      expect((await cli('apply', '-f', 'c.yaml', '--yes')).code).toBe(0);
      const misspelled = await cli('transfer', '--all', '--from', 'other', '--to', 'b', '--yes');
      expect([misspelled.code, misspelled.stdout]).toEqual([
        0,
        expect.stringMatching(
          /^nothing belongs to namespace other; did you mean others\?\n0 moved/,
        ),
      ]);
      const hollow = { name: 'hollow', objects: [] };
      expect((await gateway.admin('POST', '/admin/v1/inventories', hollow)).status).toBe(201);
      const empty = await cli('transfer', '--all', '--from', 'hollow', '--to', 'y', '--yes');
      expect([empty.code, empty.stderr]).toEqual([
        1,
        expect.stringContaining('nothing belongs to namespace hollow'),
      ]);
    },
  );

  it(
    verifies(
      'cli.transfer',
      'killed at any write, before or after the gateway acted, is completed by the same command',
    ),
    async () => {
      await writeSmall();
      await applied('a.yaml');
      const before = await everything();
      const requests = await killedAt(Infinity, 'before');
      await expectRenamed(before, SMALL_OBJECTS);
      const writes = requests.flatMap(({ method }, index) => (method === 'GET' ? [] : [index]));
      // Its own inventory, each of the objects, the former inventory.
      expect(writes).toHaveLength(SMALL_OBJECTS + 2);
      for (const index of inTurn('writes at which a transfer is killed', writes)) {
        for (const cut of ['before', 'after'] as const) {
          expect((await cli(...back)).code).toBe(0);
          await killedAt(index, cut);
          expect(await everything()).toEqual(before);
          // Whoever applies in between changes and removes nothing.
          for (const file of ['a.yaml', 'b.yaml']) {
            const plan = await planned(file, '--prune');
            expect(plan.summary, `${index} ${cut} ${file}`).toMatchObject({ total: 0 });
          }
          const again = await cli(...rename);
          expect(again.code, `${index} ${cut}: ${again.stderr}`).toBe(0);
          await expectMoved(before);
        }
      }
      await expectRenamed(before, SMALL_OBJECTS);
    },
    SLOW,
  );

  it(
    'goes on by itself when the connection breaks at any write, and an apply in between harms nothing',
    async () => {
      await writeSmall();
      await applied('a.yaml');
      const before = await everything();
      const proxy = await startCountingProxy(gateway.url);
      const through = (argv: string[]) => runCli(argv, { cwd, env: environment(proxy.url) });
      expect((await through(rename)).code).toBe(0);
      const writes = proxy.seen.flatMap(({ method }, index) => (method === 'GET' ? [] : [index]));
      for (const index of inTurn('writes at which its connection breaks', writes)) {
        for (const cut of ['before', 'after'] as const) {
          expect((await cli(...back)).code).toBe(0);
          const from = proxy.seen.length;
          proxy.fate = (_request, now) => (now - from === index ? { cut } : undefined);
          const done = await through(rename);
          expect(done.code, `${index} ${cut}: ${done.stderr}`).toBe(0);
          expect(await inventories()).toEqual({ b: SMALL_OBJECTS });
        }
        expect((await cli(...back)).code).toBe(0);
        const from = proxy.seen.length;
        proxy.fate = (_request, now) =>
          now - from === index
            ? { before: cli('apply', '-f', 'b.yaml').then(() => cli('apply', '-f', 'a.yaml')) }
            : undefined;
        const done = await through([...rename, '--lock-timeout', '60s']);
        expect(done.code, `${index}: ${done.stderr}`).toBe(0);
        proxy.fate = () => undefined;
        await expectMoved(before);
      }
      await proxy.close();
      await expectRenamed(before, SMALL_OBJECTS);
    },
    SLOW,
  );
});

const back = ['transfer', '--all', '--from', 'b', '--to', 'a', '--yes'];

async function writeSmall(): Promise<void> {
  for (const name of ['a', 'b']) {
    await writeFile(join(cwd, `${name}.yaml`), SMALL.replace('NAME', name));
  }
}

/** Runs the command as a process that is killed at a request. Gives its requests. */
async function killedAt(index: number, cut: 'before' | 'after'): Promise<Seen[]> {
  const proxy = await startCountingProxy(gateway.url);
  const child = spawn(process.execPath, [BINARY, ...rename], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, ...environment(proxy.url) },
    stdio: 'ignore',
  });
  proxy.fate = (_request, now) => {
    if (now < index) return undefined;
    return { cut: now > index ? 'before' : cut, done: () => void child.kill('SIGKILL') };
  };
  const [code, signal] = await once(child, 'exit');
  expect([code, signal]).toEqual(index === Infinity ? [0, null] : [null, 'SIGKILL']);
  await proxy.close();
  return proxy.seen;
}

describe('objects that are transferred', () => {
  it(
    verifies('cli.transfer', 'go to the other namespace alone, and the rest stays where it is'),
    async () => {
      await applied('a.yaml');
      const before = await everything();
      const done = await cli('transfer', 'model/t/one', 'agent/clerk', '--to', 'b', '--yes');
      expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('2 moved to b')]);
      expect(await inventories()).toEqual({ a: OBJECTS - 2, b: 2 });
      expect(await everything()).toEqual(before);
      const file = FILE.replace('NAME', 'b');
      const part = file.match(/^version.*|^namespace.*|^agents.*/gm)!.join('\n');
      await writeFile(
        join(cwd, 'b.yaml'),
        `${part}\nmodels:\n${file.match(/.*t\/one, r.*/)![0]}\n`,
      );
      expect((await planned('b.yaml', '--prune')).summary).toMatchObject({ total: 0, none: 2 });
      expect((await planned('a.yaml', '--prune')).summary).toMatchObject({ total: 0 });
      // What differs now is refused under the old namespace and not written.
      await writeFile(join(cwd, 'a.yaml'), FILE.replace('NAME', 'a').replace('blue', 'red'));
      const refused = await cli('apply', '-f', 'a.yaml', '--yes');
      expect([refused.code, refused.stderr]).toEqual([
        5,
        expect.stringMatching(/model t\/one {2}by namespace b\n[\s\S]*gateway transfer/),
      ]);
      const wide = ['transfer', 'model/t/*', '--from', 'a', '--to', 'b', '--yes', '-o', 'json'];
      expect((await cli(...wide)).json().data).toMatchObject({
        done: true,
        objects: [{ kind: 'model', identity: 't/two', from: 'a' }],
        already: 1,
      });
      expect((await cli(...wide)).json().data).toMatchObject({ objects: [], already: 2 });
      const typo = await cli(...wide.map((word) => (word === 'a' ? 'aa' : word)));
      expect([typo.code, typo.stdout]).toEqual([
        1,
        expect.stringMatching(/there is no namespace aa[\s\S]*did you mean a\?/),
      ]);
    },
  );

  it('are refused as a whole where nobody owns one, another does, or an apply holds it', async () => {
    await applied('a.yaml');
    await gateway.admin('POST', '/admin/v1/providers', { name: 'free', type: 'mock' });
    const move = (...words: string[]) => cli('transfer', ...words, '--to', 'b', '--yes');
    const free = await move('model/t/one', 'provider/free');
    expect([free.code, free.stderr]).toEqual([
      5,
      expect.stringMatching(/provider free \(it belongs to the API\)[\s\S]*gateway adopt/),
    ]);
    const other = await move('model/t/one', '--from', 'c');
    expect([other.code, other.stderr]).toEqual([
      5,
      expect.stringContaining('model t/one (it belongs to namespace a)'),
    ]);
    const { body } = await gateway.admin('GET', '/admin/v1/deployments');
    const [{ id, version, labels }] = body.data as [Shown];
    const held = { ...labels, 'gateway/paused-at': String(version + 1) };
    await gateway.admin('PATCH', `/admin/v1/deployments/${id}`, { labels: held });
    const busy = await move('deployment/report');
    expect([busy.code, busy.stderr]).toEqual([
      5,
      expect.stringContaining('has not come to its end'),
    ]);
    expect((await move('model/t/none')).code).toBe(1);
    for (const words of [[], ['--all'], ['model'], ['model/t/*'], ['nonsense/x']]) {
      expect([words, (await move(...words)).code]).toEqual([words, 64]);
    }
    expect((await cli('transfer', 'model/t/one', '--to', 'Big')).code).toBe(64);
    expect(await owners()).toMatchObject({ a: OBJECTS });
    expect(await inventories()).toEqual({ a: OBJECTS });
  });

  it('give way to who changes one meanwhile, and wait for their turn where they may', async () => {
    await applied('a.yaml');
    const proxy = await startCountingProxy(gateway.url);
    const through = (...argv: string[]) => runCli(argv, { cwd, env: environment(proxy.url) });
    const race = async (...flags: string[]) => {
      const from = proxy.seen.length;
      let isDone = false;
      proxy.fate = ({ method, path }, now) => {
        if (isDone || now < from || method !== 'PATCH' || !path.includes('/models/')) {
          return undefined;
        }
        isDone = true;
        const body = { description: `by hand ${now}` };
        return { before: gateway.admin('PATCH', '/admin/v1/models/t%2Ftwo', body) };
      };
      return through('transfer', 'model/t/two', '--to', 'b', '--yes', ...flags);
    };
    const late = await race();
    expect([late.code, late.stderr]).toEqual([5, expect.stringContaining('model t/two')]);
    expect(await owners()).toMatchObject({ a: OBJECTS });
    const inTime = await race('--lock-timeout', '60s');
    expect([inTime.code, inTime.stderr]).toEqual([0, expect.stringContaining('planning again')]);
    expect(await owners()).toMatchObject({ a: OBJECTS - 1, b: 1 });
    expect(await inventories()).toEqual({ a: OBJECTS - 1, b: 1 });
    await proxy.close();
  });
});
