import { describe, expect, it } from 'vitest';
import type { View } from '../../../src/config/actual/actual.ts';
import { apply, readActual } from '../../../src/config/apply/apply.ts';
import type { KindName } from '../../../src/config/objects/kinds.ts';
import { ownerFor, plan } from '../../../src/config/plan/plan.ts';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { FakeServer } from '../fake-server.ts';
import { memoryFiles } from '../memory-files.ts';

const MODELS = 20;

/** Answers creations that are under way together in the reverse of their order, and counts. */
class ReversingServer extends FakeServer {
  underWay = 0;
  most = 0;
  calls = 0;
  /** Called before each creation takes effect. */
  onCreate: (name: string) => void = () => undefined;
  #held: (() => void)[] = [];

  override async list(kind: KindName): Promise<View[]> {
    this.calls += 1;
    return super.list(kind);
  }

  override async create(kind: KindName, body: Record<string, unknown>): Promise<View> {
    this.calls += 1;
    this.underWay += 1;
    this.most = Math.max(this.most, this.underWay);
    this.onCreate(String(body['name']));
    await this.#turn();
    this.underWay -= 1;
    return super.create(kind, body);
  }

  /** Once nothing more arrives, the last that came goes first. */
  #turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#held.push(resolve);
      setImmediate(() => this.#held.pop()?.());
    });
  }
}

async function applyModels(server: FakeServer, count: number, signal?: AbortSignal) {
  const models = Array.from({ length: count }, (_, index) => ({
    name: `team/m${String(index).padStart(3, '0')}`,
    routes: [{ provider: 'echo' }],
  }));
  const tree = { version: 1, namespace: 'team', providers: [{ name: 'echo', type: 'mock' }] };
  const text = JSON.stringify({ ...tree, models });
  const files = memoryFiles({ '/gw/gateway.yaml': text });
  const { config } = await loadConfig({ paths: ['/gw/gateway.yaml'], env: {}, cwd: '/gw', files });
  if (config === undefined) throw new Error('the files are wrong');
  const { desired } = config;
  const planning = { desired, actual: await readActual(server, desired), mode: 'apply' as const };
  const planned = plan(planning);
  const report = await apply({
    plan: planned,
    desired,
    owner: ownerFor(planning),
    client: server,
    secrets: new Map(),
    parallelism: 4,
    ...(signal && { signal }),
  });
  return { planned: planned.actions.map(({ identity }) => identity), report };
}

const identities = (outcomes: readonly { identity: string }[]) =>
  outcomes.map(({ identity }) => identity);

describe('an apply that writes several objects at once', () => {
  it('has as many under way as it may and no more, and none ahead of what it refers to', async () => {
    const server = new ReversingServer();
    const ahead: string[] = [];
    server.onCreate = (name) => {
      if (name !== 'echo' && !server.writes.some((write) => write.includes('echo')))
        ahead.push(name);
    };
    const { report } = await applyModels(server, MODELS);
    expect(report.applied).toHaveLength(MODELS + 1);
    expect(server.most).toBe(4);
    expect(ahead).toEqual([]);
  });

  it('reports in the order of the plan, whichever write ends first', async () => {
    const server = new ReversingServer();
    const { planned, report } = await applyModels(server, MODELS);
    expect(identities(report.applied)).toEqual(planned);
    const order = server.writes.map((write) => write.split(' ').at(-1));
    expect(order).toHaveLength(planned.length);
    expect(order).not.toEqual(planned);
  });

  it('sends one call for each object, and as many beside them for few as for many', async () => {
    const [few, many] = [new ReversingServer(), new ReversingServer()];
    await applyModels(few, 1);
    await applyModels(many, 100);
    expect(many.calls - few.calls).toBe(99);
  });

  it('lets what is under way end when it is stopped, and says what was done and what not', async () => {
    const server = new ReversingServer();
    const stop = new AbortController();
    server.onCreate = (name) => {
      if (name === 'team/m005') stop.abort();
    };
    const { planned, report } = await applyModels(server, MODELS, stop.signal);
    expect(server.underWay).toBe(0);
    const [done, left] = [identities(report.applied), identities(report.notRun)];
    expect(done).toContain('team/m005');
    expect(done).toHaveLength(server.writes.length);
    expect([...done, ...left]).toEqual(planned);
  });
});
