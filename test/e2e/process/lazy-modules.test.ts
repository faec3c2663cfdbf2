import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readLoaded, recordLoads } from '../../cli/loaded-modules.ts';
import { verifies } from '../../requirements.ts';
import { eventually, runGateway, startGateway, writeConfig } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

/** Sources that only serve what this gateway does not use. */
const UNUSED = {
  agents: /^(sessions|runtime)\/(?!log\/job-kinds)/,
  mcp: /^runtime\/(entry\/mcp|tools\/(mcp-tool-server|mcp-transport))\b/,
  acp: /^runtime\/(entry\/acp|harness\/acp)/,
  schedules: /^scheduler\/(?!job-kinds)/,
  admin: /^(server\/(routes\/\w+-handlers|openapi\/(?!openapi-route))|resources\/store\/handlers)/,
  console:
    /^(server\/console\/(?!console-front|is-console-served|key-tickets)|usage\/requests\/live)/,
  telemetry: /^server\/process\/metrics/,
  runs: /^(tasks\/runs\/(?!run-record)|webhooks\/(?!delivery))/,
};

/** Packages, without those that these bring; every other one waits until something needs it. */
const AT_START: ReadonlySet<string> = new Set([
  'commander',
  'croner',
  'h3',
  'leven',
  'lmdb',
  'rou3',
  'srvx',
  'unstorage',
  'yaml',
  'zod',
]);
/** Packages that the store's and the media's need. */
const BROUGHT: ReadonlySet<string> = new Set([
  '@harperfast/extended-iterable',
  '@lmdb',
  'anymatch',
  'destr',
  'detect-libc',
  'msgpackr',
  'msgpackr-extract',
  'node-gyp-build-optional-packages',
  'normalize-path',
  'ordered-binary',
  'picomatch',
  'weak-lru-cache',
]);

const CONFIG = {
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'acme/echo', routes: [{ provider: 'mock' }] }],
};

async function start() {
  const directory = await directoryOfTest();
  const list = join(directory, 'loaded');
  const store = { driver: 'lmdb', path: join(directory, 'data') };
  const config = { ...CONFIG, server: { store } };
  const gateway = await startGateway(config, { binary: true, directory, env: recordLoads(list) });
  onTestFinished(async () => void (await gateway.stop()));
  return {
    gateway,
    /** Names in {@link UNUSED} of what is loaded. */
    async used() {
      const { own } = await readLoaded(list);
      return Object.entries(UNUSED).flatMap(([name, sources]) =>
        own.some((source) => sources.test(source)) ? [name] : [],
      );
    },
    async packages() {
      const { packages } = await readLoaded(list);
      const names = packages.map(
        (path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? path,
      );
      return new Set(names);
    },
  };
}

async function create({ call }: TestGateway, path: string, body: object): Promise<string> {
  const answer = await call('POST', path, { body });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.id;
}

it(
  verifies(
    'ops.lazy-modules',
    'loads nothing for agents, MCP, ACP, Schedules, the admin API, telemetry and cloud providers before their first use, and then no other part',
  ),
  async () => {
    const { gateway, used, packages } = await start();
    expect(await gateway.chat('acme/echo')).toMatchObject({ status: 200 });
    expect(await gateway.chat('acme/echo', { body: { stream: true } })).toMatchObject({
      status: 200,
    });
    expect(await gateway.call('GET', '/v1/models')).toMatchObject({ status: 200 });
    expect(await gateway.call('GET', '/healthz')).toMatchObject({ status: 200 });
    expect(await used()).toEqual([]);
    const others = [...(await packages())].filter(
      (name) => !AT_START.has(name) && !BROUGHT.has(name),
    );
    expect(others).toEqual([]);
    await expectEachAlone({ gateway, used, packages });
  },
);

/** Each part is loaded when it is used, and no other with it. */
async function expectEachAlone({
  gateway,
  used,
  packages,
}: Awaited<ReturnType<typeof start>>): Promise<void> {
  expect(await gateway.admin('GET', '/admin/v1/providers')).toMatchObject({ status: 200 });
  expect(await used()).toEqual(['admin']);

  const agent = await create(gateway, '/v1/agents', { name: 'helper', model: 'acme/echo' });
  const session = await create(gateway, '/v1/sessions', { agent });
  const events = [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }];
  await gateway.call('POST', `/v1/sessions/${session}/events`, { body: { events } });
  await eventually(async () => {
    const { body } = await gateway.call('GET', `/v1/sessions/${session}/events`);
    return body.data.some(({ type }: { type: string }) => type === 'session.status_idle');
  });
  expect(await used()).toEqual(['agents', 'admin']);
  expect([...(await packages())].filter((name) => /sdk|undici|execa/.test(name))).toEqual([]);

  await create(gateway, '/v1/deployments', {
    name: 'report',
    agent_id: agent,
    schedule: { type: 'cron', expression: '0 0 1 1 *', timezone: 'UTC' },
    initial_events: events,
  });
  await eventually(async () => (await used()).includes('schedules'));
  expect(await used()).toEqual(['agents', 'schedules', 'admin']);

  expect(await gateway.call('GET', '/console/api/session')).toMatchObject({ status: 401 });
  expect(await used()).toEqual(['agents', 'schedules', 'admin', 'console']);
}

it('still refuses at the start what a part would refuse that is loaded later', async () => {
  const directory = await directoryOfTest();
  const config = { ...CONFIG, server: { outbound: { allow: ['10.0.0.0/99'] } } };
  const file = await writeConfig(directory, config, true);
  const { code, said } = await runGateway(['start', '--config', file], { cwd: directory });
  expect(code).toBe(1);
  expect(said).toContain('not an address or CIDR block: 10.0.0.0/99');
});
