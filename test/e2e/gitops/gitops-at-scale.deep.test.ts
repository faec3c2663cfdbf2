import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { verifies } from '../../requirements.ts';
import { startCountingProxy, type CountingProxy } from '../../support/stage/counting-proxy.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

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

const environment = (server: string) => ({
  GATEWAY_SERVER: server,
  GATEWAY_API_KEY: gateway.adminKey,
});
const cli = (...argv: string[]) => runCli(argv, { cwd, env: environment(proxy.url) });
const declare = (tree: object) =>
  writeFile(join(cwd, 'gateway.yaml'), JSON.stringify({ version: 1, namespace: 'team', ...tree }));
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_one, index) => make(index));

const echo = { name: 'echo', type: 'mock' };
const model = (index: number) => ({ name: `team/m${index}`, routes: [{ provider: 'echo' }] });
const agent = (index: number) => ({ name: `agent ${index}`, model: 'team/m0' });
const service = (index: number) => ({
  name: `service ${index}`,
  agent_id: '${ref:agent.agent 0.id}',
  protocols: ['rest'],
});

describe('many objects', () => {
  const pagesOf = (kind: string) =>
    proxy.seen.filter(({ path }) => path.startsWith(`/admin/v1/${kind}?`));

  it(
    verifies(
      'cli.apply.all-pages',
      'cli.apply.idempotent',
      'that fill more than a page of 100 are read by the page, and written one by one where they differ',
    ),
    async () => {
      const tree = {
        providers: [echo],
        models: times(2, model),
        agents: times(2, agent),
        services: times(201, service),
      };
      await declare(tree);
      expect((await cli('apply', '--yes', '-q')).code).toBe(0);
      // One for each object and one for the inventory.
      expect(proxy.writes()).toHaveLength(207);
      expect(proxy.writes().every(({ method }) => method === 'POST')).toBe(true);

      proxy.seen.length = 0;
      const second = await cli('apply', '--yes', '-o', 'json');
      expect(second.json().data.summary).toMatchObject({ total: 0, none: 206 });
      expect(proxy.writes()).toEqual([]);
      expect(pagesOf('services').every(({ path }) => path.includes('limit=100'))).toBe(true);

      await declare({
        ...tree,
        agents: times(2, (index) => ({ ...agent(index), system: 'Changed.' })),
      });
      proxy.seen.length = 0;
      const planned = await cli('plan', '-o', 'json');
      // All Services follow their Agent.
      expect(planned.json().data.summary).toMatchObject({ update: 203, none: 3 });
      const kinds = ['organizations', 'providers', 'models', 'keys', 'agents', 'services'];
      expect(Object.fromEntries(kinds.map((kind) => [kind, pagesOf(kind).length]))).toEqual({
        organizations: 1,
        providers: 1,
        models: 1,
        keys: 1,
        agents: 1,
        services: 3,
      });
      expect(proxy.writes()).toEqual([]);
      // The rest are lists of kinds that are empty.
      expect(proxy.seen.length).toBeLessThanOrEqual(9 + 4);

      proxy.seen.length = 0;
      expect((await cli('apply', '--yes', '-q')).code).toBe(0);
      expect(proxy.writes()).toHaveLength(204);
      expect(proxy.seen.length - 204).toBeLessThanOrEqual(2 * (9 + 4) + 1);
    },
  );
});

describe('two who apply at once', () => {
  /** Both have read and planned before either of them writes. */
  async function race(...flags: string[]): Promise<{ codes: number[]; told: string }> {
    let arrived = 0;
    let resolve: () => void = () => undefined;
    const promise = new Promise<void>((done) => (resolve = done));
    proxy.fate = ({ method }) => {
      if (method === 'GET') return undefined;
      if (++arrived === 2) resolve();
      return { before: promise };
    };
    const one = () => cli('apply', '--yes', ...flags);
    const runs = await Promise.all([one(), one()]);
    const loser = runs.find(({ code }) => code !== 0);
    return {
      codes: runs.map(({ code }) => code).toSorted((a, b) => a - b),
      told: loser?.stderr ?? '',
    };
  }

  const deployment = (index: number) => ({
    name: `report ${index}`,
    agent_id: '${ref:agent.agent 0.id}',
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'Report.' }] }],
  });

  it.each([
    ['of a name that the server keeps apart', {}],
    ['of a name that it does not', { providers: [echo], models: [model(0)] }],
  ])(
    verifies(
      'cli.apply.stale-plan',
      'end in one winner and one conflict, and nothing is there twice: %s',
    ),
    async (_title, there) => {
      await declare(there);
      if (Object.keys(there).length > 0) expect((await cli('apply', '--yes')).code).toBe(0);
      const tree = {
        providers: [echo],
        models: times(3, model),
        agents: times(3, agent),
        services: times(3, service),
        deployments: times(3, deployment),
      };
      for (const round of [1, 2]) {
        await declare({ ...tree, agents: times(3 + round, agent) });
        const { codes, told } = await race();
        expect(codes, told).toEqual([0, 5]);
        expect(told).toMatch(/the plan is stale: .*(exists by now|at the same time)/);
        expect(told).toContain('run the command again');
        proxy.fate = () => undefined;
        const planned = await cli('plan', '-o', 'json');
        expect(planned.json().data.summary).toMatchObject({ total: 0 });
        const { body } = await gateway.admin('GET', '/admin/v1/agents?limit=100');
        expect(body.data).toHaveLength(3 + round);
      }
    },
  );

  it(
    verifies(
      'cli.apply.lock-timeout',
      'both come to their end where there is time to wait, and else one writes nothing',
    ),
    async () => {
      await declare({ providers: [echo], models: times(2, model) });
      const inTime = await race('--lock-timeout', '60s');
      expect(inTime.codes).toEqual([0, 0]);
      proxy.fate = () => undefined;
      const planned = await cli('plan', '-o', 'json');
      expect(planned.json().data.summary).toMatchObject({ total: 0 });
      const edited = times(2, (index) => ({ ...model(index), description: 'changed' }));
      await declare({ providers: [echo], models: edited });
      const late = await race('--lock-timeout', '1ms');
      expect(late.codes).toEqual([0, 5]);
    },
  );

  it('of a change: the other version is told', async () => {
    await declare({ providers: [echo], models: times(3, model) });
    expect((await cli('apply', '--yes')).code).toBe(0);
    const edited = times(3, (index) => ({ ...model(index), description: 'changed' }));
    await declare({ providers: [echo], models: edited });
    const { codes, told } = await race();
    expect(codes).toEqual([0, 5]);
    expect(told).toMatch(
      /the plan is stale: model team\/m0 \(description changed since: version 2 instead of 1\)/,
    );
    expect((await cli('plan', '--exit-code')).code).toBe(0);
  });
});
