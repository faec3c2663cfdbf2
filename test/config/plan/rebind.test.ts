import { beforeEach, describe, expect, it } from 'vitest';
import type { View } from '../../../src/config/actual/actual.ts';
import type { ApplyReport } from '../../../src/config/apply/apply-options.ts';
import { apply, readActual } from '../../../src/config/apply/apply.ts';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { ownerFor, plan, type Plan, type PlanOptions } from '../../../src/config/plan/plan.ts';
import type { ResourceClient } from '../../../src/config/actual/resource-client.ts';
import { bootstrap } from '../../../src/resources/bootstrap.ts';
import { createResourceClient } from '../../../src/server/compose/resource-client.ts';
import { verifies } from '../../requirements.ts';
import { makeResources } from '../../resources/make-resources.ts';
import { memoryFiles } from '../memory-files.ts';

const FILE = `
version: 1
agents:
  - { name: clerk, model: acme/one, system: Be brief. }
  - { name: other, model: acme/one }
services:
  - { name: desk, slug: desk, agent_id: "\${ref:agent.clerk.id}", agent_version: 1, protocols: [rest] }
deployments:
  - name: report
    agent_id: "\${ref:agent.clerk.id}"
    initial_events: [{ type: user.message, content: [{ type: text, text: Report. }] }]
    schedule: { type: cron, expression: "0 9 * * *", timezone: UTC }
`;

let client: ResourceClient;
/** What was sent, in order. */
let sent: string[];
let bodies: Record<string, unknown>[];
/** In place of the answer to the next call of that name. */
let faults: Map<string, Error>;
/** The last call that is done; nothing is heard of it, and nothing comes behind it. */
let killed: string | undefined;
let isDead = false;

beforeEach(async () => {
  const { repository } = makeResources();
  await bootstrap(repository);
  const real = createResourceClient(repository);
  [sent, bodies, faults] = [[], [], new Map()];
  [killed, isDead] = [undefined, false];
  const call = async <T>(what: string, write: () => Promise<T>): Promise<T> => {
    if (isDead) throw refusal(400);
    sent.push(what);
    const fault = faults.get(what);
    faults.delete(what);
    if (fault) throw fault;
    const answer = await write();
    isDead = what === killed;
    if (isDead) throw refusal(400);
    return answer;
  };
  client = {
    ...real,
    create: (kind, body) => call(`create ${kind}`, () => real.create(kind, body)),
    update(kind, id, change) {
      bodies.push({ ...change.body, expected_version: change.expectedVersion });
      const isNote = Object.keys(change.body).join() === 'labels';
      return call(isNote ? 'note' : `update ${kind}`, () => real.update(kind, id, change));
    },
    act: (kind, id, action) => call(action, () => real.act(kind, id, action)),
  };
});

async function run(text: string): Promise<{ plan: Plan; report: ApplyReport }> {
  const files = memoryFiles({ '/gw/gateway.yaml': text });
  const { config } = await loadConfig({ paths: ['gateway.yaml'], env: {}, cwd: '/gw', files });
  if (!config) throw new Error('the file is invalid');
  const { desired } = config;
  const options: PlanOptions = {
    desired,
    actual: await readActual(client, desired),
    mode: 'apply',
  };
  const planned = plan(options);
  sent.length = 0;
  bodies.length = 0;
  const parts = { desired, owner: ownerFor(options), client, secrets: new Map() };
  const report = await apply({ plan: planned, ...parts, pause: async () => undefined });
  return { plan: planned, report };
}

async function schedule(): Promise<View> {
  const [found] = await client.list('deployment');
  if (!found) throw new Error('no Schedule');
  return found;
}

const KIND = FILE.replace('Be brief.', 'Be kind.');
const refusal = (status: number): Error => Object.assign(new Error('refused'), { status });

describe('a Schedule whose Agent changes', () => {
  it(
    verifies(
      'cli.apply.rebind',
      'is paused, bound to the new version, and let run again, in one apply',
    ),
    async () => {
      await run(FILE);
      const before = await schedule();
      expect(before).toMatchObject({ agent_version: 1, status: 'active' });
      const { plan: planned, report } = await run(KIND);
      expect(planned.actions.find(({ kind }) => kind === 'deployment')?.changes).toMatchObject([
        { path: 'agent_version', old: 1, new: 2 },
      ]);
      expect(report.failed).toEqual([]);
      expect(sent).toEqual(['update agent', 'note', 'pause', 'update deployment', 'unpause']);
      expect(bodies[2]).toMatchObject({
        agent_binding: { agent_id: before['agent_id'], agent_version: 2 },
        expected_version: before.version + 2,
      });
      expect(bodies[2]).not.toHaveProperty('agent_version');
      expect(await schedule()).toMatchObject({ agent_version: 2, status: 'active' });
      const again = await run(KIND);
      expect(again.plan.summary.total).toBe(0);
      expect(sent).toEqual([]);
    },
  );

  it('is bound to another Agent in the same way, and stays paused if it was', async () => {
    await run(FILE);
    const { id } = await schedule();
    await client.act('deployment', id, 'pause');
    const moved = FILE.replace(
      'report\n    agent_id: "${ref:agent.clerk.id}"',
      'report\n    agent_id: "${ref:agent.other.id}"',
    );
    expect((await run(moved)).report.failed).toEqual([]);
    expect(sent).toEqual(['update deployment']);
    const agents = await client.list('agent');
    const other = agents.find(({ name }) => name === 'other');
    expect(await schedule()).toMatchObject({ agent_id: other?.id, status: 'paused' });
    await client.act('deployment', id, 'unpause');
    expect((await run(FILE)).report.failed).toEqual([]);
    expect(sent).toEqual(['note', 'pause', 'update deployment', 'unpause']);
  });

  it('is not paused for anything else, nor with a version that is stated', async () => {
    const stated = FILE.replace('report\n', 'report\n    agent_version: 1\n');
    await run(stated);
    const { report } = await run(stated.replace('Be brief.', 'Be kind.').replace('0 9', '0 8'));
    expect(report.failed).toEqual([]);
    expect(sent).toEqual(['update agent', 'update deployment']);
    expect(await schedule()).toMatchObject({ agent_version: 1, status: 'active' });
  });

  it(verifies('cli.apply.rebind', 'runs as before when the update is refused'), async () => {
    await run(FILE);
    faults.set('update deployment', refusal(422));
    const { report } = await run(KIND);
    expect(report.failed).toMatchObject([{ kind: 'deployment', reason: 'refused' }]);
    expect(sent).toEqual(['update agent', 'note', 'pause', 'update deployment', 'unpause']);
    expect(await schedule()).toMatchObject({ agent_version: 1, status: 'active' });
    expect((await run(KIND)).report.failed).toEqual([]);
    expect(await schedule()).toMatchObject({ agent_version: 2, status: 'active' });
  });

  it('runs as before when somebody else changed it between plan and pause', async () => {
    await run(FILE);
    const { act } = client;
    client = {
      ...client,
      async act(kind, id, action) {
        if (action === 'pause') {
          const { version: expectedVersion } = await schedule();
          const body = { description: 'by hand' };
          await client.update(kind, id, { body, expectedVersion });
        }
        return act(kind, id, action);
      },
    };
    const { report } = await run(KIND);
    expect(report.failed).toMatchObject([{ reason: expect.stringMatching(/concurrently/) }]);
    expect(await schedule()).toMatchObject({
      agent_version: 1,
      description: 'by hand',
      status: 'active',
    });
  });

  it('is let run again after answers that were lost, and said to be paused when it cannot be', async () => {
    await run(FILE);
    for (const call of ['pause', 'unpause']) faults.set(call, new Error('socket hang up'));
    expect((await run(KIND)).report.failed).toEqual([]);
    expect(await schedule()).toMatchObject({ agent_version: 2, status: 'active' });
    faults.set('unpause', refusal(403));
    const { report } = await run(FILE);
    expect(report.failed).toMatchObject([{ reason: expect.stringMatching(/left paused/) }]);
  });
});

describe('an apply that is killed while a Schedule is paused', () => {
  const killedAt = async (step: string, then: string): Promise<View> => {
    await run(FILE);
    killed = step;
    await run(KIND);
    expect(sent.at(-1)).toBe(step);
    [killed, isDead] = [undefined, false];
    const { plan: planned, report } = await run(then);
    expect(report.failed).toEqual([]);
    const action = planned.actions.find(({ kind }) => kind === 'deployment');
    expect(action?.changes.some(({ field }) => field === 'status')).toBe(step !== 'note');
    const again = await run(then);
    expect(again.plan.summary.total).toBe(0);
    return schedule();
  };

  it.each(['note', 'pause', 'update deployment'])(
    verifies('cli.apply.rebind', 'is completed by the next one: behind %s'),
    async (step) => {
      expect(await killedAt(step, KIND)).toMatchObject({ agent_version: 2, status: 'active' });
    },
  );

  it('is completed with what the files say by then', async () => {
    const kinder = FILE.replace('Be brief.', 'Be kinder.');
    expect(await killedAt('update deployment', kinder)).toMatchObject({
      agent_version: 3,
      status: 'active',
    });
  });

  it('leaves a pause by hand alone', async () => {
    await run(FILE);
    await run(KIND);
    const { id } = await schedule();
    await client.act('deployment', id, 'pause');
    expect((await run(KIND)).plan.summary.total).toBe(0);
    expect(await schedule()).toMatchObject({ status: 'paused' });
  });
});

describe('a Service whose agent_version changes', () => {
  it(verifies('cli.apply.rebind', 'is sent with the version that is bound now'), async () => {
    await run(FILE);
    const next = KIND.replace('agent_version: 1', 'agent_version: 2');
    expect((await run(next)).report.failed).toEqual([]);
    expect(bodies).toContainEqual(
      expect.objectContaining({ agent_version: 2, expected_agent_version: '1' }),
    );
  });
});
