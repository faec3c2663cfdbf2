import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { runIndexOps, runKey, toRunView } from '../../../src/scheduler/run-row.ts';
import type { RunRow } from '../../../src/scheduler/run-row.ts';
import { createRunStore } from '../../../src/scheduler/runs.ts';
import type { TriggerInput } from '../../../src/scheduler/scheduler.ts';
import { deploymentHandlers } from '../../../src/server/routes/deployment-handlers.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import { makeResources } from '../../resources/make-resources.ts';
import { answerOf, keyring, namedCall } from './handler-calls.ts';
import type { CallOptions } from './handler-calls.ts';

const RUN: RunRow = {
  id: 'drun_1',
  organization: 'org_1',
  deploymentId: 'depl_1',
  agent: { id: 'agent_1', version: 1 },
  trigger: { type: 'manual' },
  payer: { keyId: 'key_1', keyName: 'first', organizationId: 'org_1' },
  sessionId: null,
  error: null,
  createdAt: '2026-11-21T00:00:00.000Z',
};
const ERROR = { type: 'agent_archived_error', message: 'archived' } as const;

async function setUp(of: Partial<Principal> = {}) {
  const { repository, store, clock } = makeResources();
  const triggered: TriggerInput[] = [];
  const tested: string[] = [];
  const definition = repository.definitionOf('deployment');
  const keys = keyring(of);
  const handlers = deploymentHandlers({
    ...keys,
    // A Schedule needs an Agent and more; here it needs no more than its id.
    repository: Object.assign(Object.create(repository), {
      async get(asked: unknown, id: string, { organization }: { organization: string }) {
        if (asked === definition && id === 'depl_1' && organization === 'org_1') return { id };
        throw new GatewayError('not_found', { message: 'deployment not found' });
      },
    }),
    scheduler: {
      runs: createRunStore(store),
      trigger: async (input) => (triggered.push(input), RUN),
      start: () => undefined,
      close: async () => undefined,
    },
    notifier: {
      async test(organization, id, willAct) {
        tested.push(`${organization} ${id}`);
        await willAct?.();
      },
    },
  });
  const add = async (run: Partial<RunRow>) => {
    const row = { ...RUN, ...run };
    await store.commit([{ type: 'put', key: runKey(row.id), value: row }, ...runIndexOps(row)]);
    return row;
  };
  const ask = (name: keyof typeof handlers, path: string, options: CallOptions = {}) =>
    answerOf(handlers[name], { path, ...options });
  return { ask, add, triggered, tested, clock, inside: keys.inside };
}

type Page = { body: { data: { id: string }[] } };
const idsOf = (answer: object) => (answer as Page).body.data.map(({ id }) => id);

describe('a Schedule that is run by hand', () => {
  it.each(['/v1/deployments/depl_1/run', '/v1/deployments/depl_1/runs'])(
    'gives its run: %s',
    async (path) => {
      const { ask, triggered, inside } = await setUp();
      const { named } = namedCall();
      const answer = await ask('trigger', path, { method: 'POST', body: {}, named });
      expect(answer).toEqual({ status: 200, body: toRunView(RUN) });
      expect(triggered).toEqual([
        {
          organization: 'org_1',
          deploymentId: 'depl_1',
          payer: { keyId: 'key_1', keyName: 'first', organizationId: 'org_1' },
          named,
          by: {
            actor: { kind: 'key', id: 'key_1', name: 'first' },
            from: { address: '127.0.0.1', client: null },
            requestId: 'req_1',
          },
        },
      ]);
      expect(inside).toEqual({ now: 0, ever: 1 });
    },
  );

  it('does what the Schedule says and takes no input', async () => {
    const { ask, triggered, inside } = await setUp();
    const path = '/v1/deployments/depl_1/run';
    const body = { model: 'other', agent: 'b' };
    await expect(ask('trigger', path, { method: 'POST', body })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'model',
      message: 'model: expected an empty body or {}',
    });
    await expect(ask('trigger', path, { method: 'POST', body: '{' })).rejects.toMatchObject({
      code: 'invalid_json',
    });
    expect(triggered).toEqual([]);
    expect(inside.now).toBe(0);
    expect(await ask('trigger', path, { method: 'POST' })).toMatchObject({ status: 200 });
  });
});

describe('a test of the chat webhook', () => {
  const path = '/v1/deployments/depl_1/notifications/chat/test';

  it('is sent for the Schedule of the path', async () => {
    const { ask, tested } = await setUp();
    expect(await ask('testNotification', path, { method: 'POST' })).toEqual({
      status: 200,
      body: { delivered: true },
    });
    expect(tested).toEqual(['org_1 depl_1']);
  });

  it('is told to a call that has a name before it is sent', async () => {
    const { ask } = await setUp();
    const { named, acts } = namedCall();
    await ask('testNotification', path, { method: 'POST', named });
    expect(acts).toEqual([undefined]);
  });

  it('takes no input', async () => {
    const { ask, tested } = await setUp();
    const body = { text: 'x' };
    await expect(ask('testNotification', path, { method: 'POST', body })).rejects.toMatchObject({
      param: 'text',
    });
    expect(tested).toEqual([]);
  });
});

describe('runs', () => {
  it('are listed of one Schedule or of all, of the own organization', async () => {
    const { ask, add } = await setUp();
    await add({ id: 'drun_1' });
    await add({ id: 'drun_2', deploymentId: 'depl_2' });
    await add({ id: 'drun_3', organization: 'org_2' });
    await add({ id: 'drun_4', error: ERROR });
    const ofOne = '/v1/deployments/depl_1/runs';
    expect(idsOf(await ask('listAll', '/v1/deployment_runs'))).toEqual([
      'drun_4',
      'drun_2',
      'drun_1',
    ]);
    expect(idsOf(await ask('listOfOne', ofOne))).toEqual(['drun_4', 'drun_1']);
    const search = '?has_error=true&deployment_id=depl_2';
    expect(idsOf(await ask('listOfOne', ofOne, { search }))).toEqual(['drun_4']);
    expect(idsOf(await ask('listAll', '/v1/deployment_runs', { search }))).toEqual([]);
  });

  it('are not listed of a Schedule that there is not', async () => {
    const { ask } = await setUp();
    for (const id of ['depl_2', ''])
      await expect(ask('listOfOne', `/v1/deployments/${id}/runs`)).rejects.toMatchObject({
        code: 'not_found',
      });
  });
});

describe('a run', () => {
  const refusal = { code: 'not_found', message: 'deployment_run not found' };

  it('is shown by its id to its own organization', async () => {
    const { ask, add } = await setUp();
    const run = await add({ id: 'drun_1' });
    await add({ id: 'drun_2', organization: 'org_2' });
    expect(await ask('get', '/v1/deployment_runs/drun_1')).toEqual({
      status: 200,
      body: toRunView(run),
    });
    for (const id of ['drun_2', 'drun_3', ''])
      await expect(ask('get', `/v1/deployment_runs/${id}`)).rejects.toMatchObject(refusal);
  });

  it.each([
    ['succeeded', { sessionId: 'sess_1' }],
    ['failed', { error: ERROR }],
  ])('is shown below its Schedule once it is decided: %s', async (_, outcome) => {
    const { ask, add } = await setUp();
    const run = await add(outcome);
    expect(await ask('getDecided', '/v1/deployments/depl_1/runs/drun_1')).toEqual({
      status: 200,
      body: toRunView(run),
    });
  });

  it('asks below its Schedule to be waited for before it is decided', async () => {
    const { ask, add } = await setUp();
    await add({});
    const asked = ask('getDecided', '/v1/deployments/depl_1/runs/drun_1');
    await expect(asked).rejects.toMatchObject({
      code: 'conflict',
      type: 'deployment_trigger_in_progress',
      message: 'run drun_1 is not decided yet; try again when it is',
    });
    const shown = await ask('get', '/v1/deployment_runs/drun_1');
    expect(shown).toMatchObject({ status: 200 });
  });

  it('is of no other Schedule', async () => {
    const { ask, add } = await setUp();
    await add({ sessionId: 'sess_1' });
    for (const path of ['depl_2/runs/drun_1', 'depl_1/runs/drun_2', 'depl_1/runs/'])
      await expect(ask('getDecided', `/v1/deployments/${path}`)).rejects.toMatchObject(refusal);
  });
});

describe('the routes of Schedules', () => {
  const PATHS = {
    listOfOne: '/v1/deployments/depl_1/runs',
    trigger: '/v1/deployments/depl_1/run',
    getDecided: '/v1/deployments/depl_1/runs/drun_1',
    testNotification: '/v1/deployments/depl_1/notifications/chat/test',
    listAll: '/v1/deployment_runs',
    get: '/v1/deployment_runs/drun_1',
  } as const;
  const NAMES = Object.keys(PATHS) as (keyof typeof PATHS)[];
  const READ = ['listOfOne', 'getDecided', 'listAll', 'get'];

  it.each<[string, Partial<Principal>, readonly string[]]>([
    ['no bounds', {}, NAMES],
    ['the scope deployments', { scopes: new Set(['deployments']) }, NAMES],
    ['another scope', { scopes: new Set(['run', 'agents']) }, []],
    ['the role operator', { role: 'operator' }, NAMES],
    ['the role viewer', { role: 'viewer' }, READ],
    ['the role billing', { role: 'billing' }, []],
  ])('are open to a key with %s as far as it may use them', async (_, of, open) => {
    const { ask, add } = await setUp(of);
    await add({ sessionId: 'sess_1' });
    const allowed: string[] = [];
    for (const name of NAMES)
      await ask(name, PATHS[name]).then(
        () => allowed.push(name),
        (error: unknown) => expect(error).toMatchObject({ code: 'insufficient_scope' }),
      );
    expect(allowed).toEqual(open);
  });
});
