import { beforeAll, describe, expect, it } from 'vitest';
import { createIdSource } from '../../../src/core/ids.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import { runIndexOps, runKey } from '../../../src/scheduler/run-row.ts';
import type { RunRow } from '../../../src/scheduler/run-row.ts';
import { createRunStore } from '../../../src/scheduler/runs.ts';
import type { RunStore } from '../../../src/scheduler/runs.ts';
import { runsPage } from '../../../src/server/routes/run-pages.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const ERROR = { type: 'agent_archived_error', message: 'the agent is archived' } as const;
const SCHEDULED = { type: 'schedule', scheduledAt: Date.UTC(2026, 10, 21) } as const;

/** Every mix of Schedule, Agent, trigger and outcome, a minute apart. */
let runs: RunStore;
const made: RunRow[] = [];

beforeAll(async () => {
  const clock = createFakeClock();
  const ids = createIdSource(clock);
  const store = openMemoryStore(clock);
  const add = async (row: Partial<RunRow>): Promise<void> => {
    const whole: RunRow = {
      id: ids.next('drun'),
      organization: 'org_1',
      deploymentId: 'depl_a',
      agent: { id: 'agent_a', version: 1 },
      trigger: { type: 'manual' },
      payer: { keyId: 'key_1', keyName: 'k', organizationId: 'org_1' },
      sessionId: null,
      error: null,
      createdAt: new Date(clock.now()).toISOString(),
      ...row,
    };
    await store.commit([
      { type: 'put', key: runKey(whole.id), value: whole },
      ...runIndexOps(whole),
    ]);
    if (whole.organization === 'org_1') made.unshift(whole);
    clock.advance(60_000);
  };
  for (const deploymentId of ['depl_a', 'depl_b', 'depl_c'])
    for (const agent of [{ id: `agent_${deploymentId.at(-1)}`, version: 2 }, null])
      for (const trigger of [{ type: 'manual' } as const, SCHEDULED])
        for (const outcome of [{}, { sessionId: 'sess_1' }, { error: ERROR }])
          await add({ deploymentId, agent, trigger, ...outcome });
  await add({ organization: 'org_2' });
  runs = createRunStore(store);
});

interface Page {
  data: Record<string, any>[];
  next_page: string | null;
}

const page = async (text: string, deploymentId?: string, organization = 'org_1') => {
  const query = new URLSearchParams(text);
  return (await runsPage(runs, { organization, query, deploymentId })) as Page;
};

const idsOf = async (...args: Parameters<typeof page>) =>
  (await page(...args)).data.map(({ id }) => id as string);

const expected = (matches: (row: RunRow) => boolean) => made.filter(matches).map(({ id }) => id);

const FILTERS: [query: string, matches: (row: RunRow) => boolean][] = [
  ['', () => true],
  ['trigger_type=manual', ({ trigger }) => trigger.type === 'manual'],
  ['trigger_type=schedule', ({ trigger }) => trigger.type === 'schedule'],
  ['status=pending', ({ sessionId, error }) => sessionId === null && error === null],
  ['status=succeeded', ({ sessionId }) => sessionId !== null],
  ['status=failed', ({ error }) => error !== null],
  ['status=failed&status=succeeded', ({ sessionId, error }) => sessionId !== error],
  ['statuses[]=failed&statuses[]=succeeded', ({ sessionId, error }) => sessionId !== error],
  ['status=succeeded,failed', ({ sessionId, error }) => sessionId !== error],
  ['has_error=true', ({ error }) => error !== null],
  ['has_error=false', ({ error }) => error === null],
  ['agent_id=agent_a', ({ agent }) => agent?.id === 'agent_a'],
  ['agent_ids[]=agent_a&agent_ids[]=agent_b', ({ agent }) => /_[ab]$/.test(agent?.id ?? '')],
  ['agent_ids=agent_a,agent_b', ({ agent }) => /_[ab]$/.test(agent?.id ?? '')],
  ['deployment_id=depl_b', ({ deploymentId }) => deploymentId === 'depl_b'],
  ['deployment_id=depl_a,depl_b', ({ deploymentId }) => deploymentId !== 'depl_c'],
  ['deployment_id[]=depl_a&deployment_id[]=depl_b', ({ deploymentId: id }) => id !== 'depl_c'],
  ['deployment_ids[]=depl_a&deployment_ids[]=depl_b', ({ deploymentId: id }) => id !== 'depl_c'],
  ['deployment_ids=depl_a&deployment_ids=depl_b', ({ deploymentId: id }) => id !== 'depl_c'],
  ['created_at[gte]=2026-11-21T00:10:00Z', ({ createdAt }) => createdAt >= '2026-11-21T00:10'],
  ['created_at[gt]=2026-11-21T00:10:00Z', ({ createdAt }) => createdAt > '2026-11-21T00:10:01'],
  ['created_at[lte]=2026-11-21T00:10:00%2B00:00', ({ createdAt: at }) => at < '2026-11-21T00:11'],
  ['created_at[lt]=2026-11-21T00:10:00Z', ({ createdAt }) => createdAt < '2026-11-21T00:10'],
  [
    'deployment_id=depl_b&trigger_type=schedule&has_error=true&agent_id=agent_b',
    ({ deploymentId, trigger, error, agent }) =>
      deploymentId === 'depl_b' && trigger.type === 'schedule' && !!error && agent !== null,
  ],
  ['has_error=true&status=succeeded', () => false],
  ['deployment_id=depl_none', () => false],
  ['agent_id=agent_none', () => false],
  [`deployment_id=${'x'.repeat(4000)}`, () => false],
];

describe('the list of runs', () => {
  it.each(FILTERS)(
    verifies('runs.list.filters', 'keeps what fits, the newest first: %s'),
    async (query, matches) => {
      expect(await idsOf(`limit=100&${query}`)).toEqual(expected(matches));
    },
  );

  it.each(FILTERS)(
    verifies('runs.list.filters', 'is walked by cursors without gap or repetition: %s'),
    async (query, matches) => {
      const seen: string[] = [];
      let cursor = '';
      for (;;) {
        const { data, next_page } = await page(`limit=5&${query}&page=${cursor}`);
        expect(data.length).toBeLessThanOrEqual(5);
        seen.push(...data.map(({ id }) => id as string));
        if (next_page === null) break;
        cursor = encodeURIComponent(next_page);
      }
      expect(seen).toEqual(expected(matches));
    },
  );

  it.each([
    'trigger_type=webhook',
    'status=running',
    'status=failed,running',
    'statuses[]=x',
    'has_error=1',
    'created_at[gte]=yesterday',
    'limit=0',
    'limit=x',
    'page=x',
  ])(
    verifies('runs.list.filters', 'answers 400 to a value that there is not: %s'),
    async (query) => {
      const failure = await page(query).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(GatewayError);
      expect(failure).toMatchObject({ status: 400 });
    },
  );

  it('refuses the cursor of another list', async () => {
    const { next_page } = await page('limit=2');
    const cursor = encodeURIComponent(String(next_page));
    for (const other of [`status=failed&page=${cursor}`, `trigger_type=manual&page=${cursor}`])
      await expect(page(other)).rejects.toMatchObject({ status: 400 });
    await expect(page(`page=${cursor}`, undefined, 'org_2')).rejects.toMatchObject({ status: 400 });
  });

  it.each([
    ['of another kind', 'abc'],
    ['longer than any id', `drun_${'x'.repeat(4_000)}`],
  ])('has no place %s', async (_, place) => {
    const { next_page } = await page('limit=2');
    const [mark] = Buffer.from(String(next_page), 'base64url').toString().split('.');
    const forged = Buffer.from(`${mark}.${place}`).toString('base64url');
    await expect(page(`limit=2&page=${forged}`)).rejects.toMatchObject({ status: 400 });
  });

  it(verifies('runs.list.of-schedule', 'of one Schedule has its runs alone'), async () => {
    const own = expected(({ deploymentId }) => deploymentId === 'depl_b');
    expect(await idsOf('', 'depl_b')).toEqual(own);
    expect(await idsOf('deployment_id=depl_a', 'depl_b')).toEqual(own);
    expect(await idsOf('status=failed', 'depl_b')).toEqual(
      expected(({ deploymentId, error }) => deploymentId === 'depl_b' && error !== null),
    );
  });

  it(
    verifies('runs.fields', 'runs.field-values', 'shows every member of a run and no status'),
    async () => {
      const { data } = await page('deployment_id=depl_a&has_error=true&limit=100');
      expect(data.map(({ id: _id, created_at: _at, ...rest }) => rest)).toEqual(
        [null, { type: 'agent', id: 'agent_a', version: 2 }].flatMap((agent) =>
          [{ type: 'schedule', scheduled_at: '2026-11-21T00:00:00.000Z' }, { type: 'manual' }].map(
            (trigger_context) => ({
              type: 'deployment_run',
              deployment_id: 'depl_a',
              agent,
              trigger_context,
              session_id: null,
              error: ERROR,
            }),
          ),
        ),
      );
      for (const one of (await page('limit=100')).data)
        expect(Object.keys(one).sort()).toEqual(
          'agent created_at deployment_id error id session_id trigger_context type'.split(' '),
        );
    },
  );
});
