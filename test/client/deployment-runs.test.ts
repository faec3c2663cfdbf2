import { afterEach, describe, expect, it } from 'vitest';
import { ClientError } from '../../src/client/http/client-error.ts';
import { createClient } from '../../src/client/create-client.ts';
import type { Client } from '../../src/client/create-client.ts';
import { statusOf } from '../../src/client/deployment-runs.ts';
import type { DeploymentRunView, RunWatchOptions } from '../../src/client/deployment-runs.ts';
import type { SessionOutcome } from '../../src/sessions/outcome.ts';
import { verifies } from '../requirements.ts';
import { startFakeServer } from './fake-server.ts';
import type { Call, FakeServer, Handler } from './fake-server.ts';
import { instantClock } from './instant-clock.ts';

let server: FakeServer;
afterEach(() => server.close());

const START = Date.UTC(2026, 10, 21, 7);

/** A run that was created so many seconds after the first one. */
function runAt(seconds: number, rest: Partial<DeploymentRunView> = {}): DeploymentRunView {
  return {
    id: `drun_${String(seconds).padStart(4, '0')}`,
    type: 'deployment_run',
    deployment_id: 'depl_1',
    trigger_context: { type: 'manual' },
    session_id: `sess_${seconds}`,
    error: null,
    created_at: new Date(START + seconds * 1_000).toISOString(),
    ...rest,
  };
}

const PENDING = { session_id: null };
const FAILED = { session_id: null, error: { type: 'unknown_error', message: 'no luck' } };

type Outcomes = Record<string, SessionOutcome['type'][]>;

/** Outcomes of Sessions at each look, the last ones for good; all others are completed. */
function serveSessions(outcomes: Outcomes): Handler {
  return ({ query }) => {
    const ids = (query.get('ids') ?? '').split(',');
    const data = ids.map((id) => {
      const [type = 'completed', ...later] = outcomes[id] ?? [];
      if (later.length > 0) outcomes[id] = later;
      const outcome = { type, reason: null, message: null };
      return { id, status: 'idle', created_at: '2026-11-21', outcome };
    });
    return { body: { data, next_page: null } };
  };
}

async function connect(handler: Handler, outcomes: Outcomes = {}) {
  const sessions = serveSessions(outcomes);
  server = await startFakeServer((call, response) =>
    (call.path === '/v1/sessions' ? sessions : handler)(call, response),
  );
  const clock = instantClock();
  const client = createClient({ baseUrl: server.url, apiKey: 'sk-test', clock, random: () => 0 });
  return { client, clock, calls: server.calls };
}

/** A gateway with these runs at each look, the last ones for good. */
function serve(looks: (DeploymentRunView[] | number)[]): Handler {
  let look = 0;
  let isFirst = true;
  return ({ query }) => {
    // The newest, and those under way, are asked for ahead of the look itself.
    const isOpen = query.get('status') === 'pending';
    const isNewest = isFirst && !isOpen && !query.has('created_at[gte]');
    isFirst &&= !isNewest;
    const isPeek = isNewest || isOpen;
    const runs = looks[Math.min(look, looks.length - 1)] ?? [];
    if (!isPeek) look++;
    if (typeof runs === 'number') return { status: runs, body: { error: 'not now' } };
    const from = query.get('created_at[gte]') ?? '';
    const found = runs.filter(({ created_at: at }) => at >= from).reverse();
    const open = found.filter((run) => statusOf(run) === 'pending');
    const data = isOpen ? open : found;
    return { body: { data, next_page: null } };
  };
}

/** Calls for runs alone. */
const forRuns = (calls: readonly Call[]) => calls.filter(({ path }) => path !== '/v1/sessions');

async function watched(
  client: Client,
  count: number,
  options: Partial<RunWatchOptions> = {},
): Promise<string[]> {
  const told: string[] = [];
  const runs = client.deploymentRuns.watch({
    filters: {},
    intervalMs: 2_000,
    onTrouble: (error) => told.push(error.message),
    ...options,
  });
  while (told.filter((line) => line.startsWith('drun')).length < count) {
    const { value: run } = await runs.next();
    told.push(`${run.id} ${run.error ? 'failed' : (run.session_id ?? 'pending')}`);
  }
  return told;
}

describe('a watch of runs', () => {
  it('tells what happens from now on, each run when it begins and when it is decided', async () => {
    const before = [runAt(0), runAt(1, PENDING)];
    const { client } = await connect(
      serve([
        before,
        [...before, runAt(2, PENDING), runAt(3)],
        [runAt(0), runAt(1, FAILED), runAt(2, PENDING), runAt(3)],
        [runAt(0), runAt(1, FAILED), runAt(2), runAt(3), runAt(4, FAILED)],
      ]),
    );
    expect(await watched(client, 5)).toEqual([
      'drun_0002 pending',
      'drun_0003 sess_3',
      'drun_0001 failed',
      'drun_0002 sess_2',
      'drun_0004 failed',
    ]);
  });

  it(
    verifies('schedules.outcome', 'tells of a run again as its Session comes to its end'),
    async () => {
      const outcomes: Outcomes = { sess_1: ['running', 'waiting', 'waiting', 'failed'] };
      const runs = [runAt(0), runAt(1)];
      const { client } = await connect(serve([[runAt(0)], runs]), outcomes);
      const seen: string[] = [];
      const options = { filters: {}, intervalMs: 2_000, onTrouble: () => undefined };
      for await (const { id, outcome } of client.deploymentRuns.watch(options)) {
        seen.push(`${id} ${outcome.type}`);
        if (seen.length === 3) break;
      }
      expect(seen).toEqual(['drun_0001 running', 'drun_0001 waiting', 'drun_0001 failed']);
    },
  );

  it(
    verifies('schedules.outcome', 'tells of a run whose Session began before the watch'),
    async () => {
      const outcomes: Outcomes = {
        'sess_-7200': ['running', 'running', 'failed'],
        'sess_-7100': ['waiting', 'waiting', 'waiting', 'completed'],
      };
      const runs = [runAt(-7_200), runAt(-7_100), runAt(0)];
      const { client, calls } = await connect(serve([runs]), outcomes);
      const options = { filters: {}, intervalMs: 2_000, onTrouble: () => undefined };
      const seen: string[] = [];
      for await (const { id, outcome } of client.deploymentRuns.watch(options)) {
        seen.push(`${id} ${outcome.type}`);
        if (seen.length === 2) break;
      }
      expect(seen).toEqual(['drun_-7200 failed', 'drun_-7100 completed']);
      // Neither of them makes a look longer.
      const from = forRuns(calls).flatMap(({ query }) => query.get('created_at[gte]') ?? []);
      expect(new Set(from)).toEqual(new Set([runAt(-60).created_at]));
    },
  );

  it('asks again for the 500 newest whose Sessions run or wait, and for no more', async () => {
    const outcomes: Outcomes = { sess_2000: ['running', 'failed'] };
    const all = Array.from({ length: 501 }, (_, at) => runAt(at));
    for (const { session_id: id } of all) outcomes[String(id)] = ['waiting'];
    const from = runAt(0).created_at;
    const { client, calls } = await connect(serve([all, [...all, runAt(2_000)]]), outcomes);
    expect(await watched(client, 503, { from })).toHaveLength(503);
    const asked = calls.filter(({ path }) => path === '/v1/sessions').slice(-5);
    const ids = asked.flatMap(({ query }) => query.get('ids')?.split(',') ?? []);
    // With the one that the list itself brought.
    expect(new Set(ids)).toEqual(new Set(all.slice(2).map(({ session_id: id }) => id)));
  });

  it('tells of a run that was under way long before', async () => {
    const looks = [PENDING, PENDING, {}].map((rest) => [runAt(-7_200, rest), runAt(0)]);
    const { client } = await connect(serve(looks));
    expect(await watched(client, 1)).toEqual(['drun_-7200 sess_-7200']);
  });

  it('waits for no run that ended in a state which is not listed', async () => {
    const failed = runAt(0, FAILED);
    const under = [runAt(-7_200, PENDING), failed];
    const looks = [under, under, [runAt(-7_200), failed], [failed, runAt(5, FAILED)]];
    const all = serve(looks.map((runs) => runs));
    const only = serve(looks.map((runs) => runs.filter(({ error }) => error)));
    const { client, calls } = await connect((request, body) => {
      const [listed, pending] = [only(request, body), all(request, body)];
      return request.query.get('status') === 'pending' ? pending : listed;
    });
    const filters = { status: 'failed' } as const;
    expect(await watched(client, 1, { filters })).toEqual(['drun_0005 failed']);
    const from = forRuns(calls).map(({ query }) => query.get('created_at[gte]'));
    expect(from.at(-2)).toBe(runAt(-7_200).created_at);
    expect(from.at(-1)).toBe(runAt(-60).created_at);
  });

  it('begins at a time that is named, and with none at all when there are none', async () => {
    const all = [runAt(0), runAt(1), runAt(2)];
    const { client, calls } = await connect(serve([all]));
    const from = runAt(1).created_at;
    expect(await watched(client, 2, { from, filters: { deployment_id: 'depl_1' } })).toEqual([
      'drun_0001 sess_1',
      'drun_0002 sess_2',
    ]);
    expect(forRuns(calls)[0]?.query.get('created_at[gte]')).toBe(from);
    expect(forRuns(calls)[0]?.query.get('deployment_id')).toBe('depl_1');
    await server.close();
    const empty = await connect(serve([[], [], [runAt(5)]]));
    expect(await watched(empty.client, 1)).toEqual(['drun_0005 sess_5']);
  });

  it('asks only for what can be new, however long it goes on', async () => {
    const looks = Array.from({ length: 60 }, (_, index) =>
      Array.from({ length: index + 1 }, (__, at) => runAt(at * 10)),
    );
    const { client, calls } = await connect(serve(looks));
    expect(await watched(client, 59)).toHaveLength(59);
    expect(forRuns(calls).at(-1)?.query.get('created_at[gte]')).toBe(runAt(580 - 60).created_at);
  });

  it(
    verifies('cli.runs', 'goes on after a failure of the server or the connection, and says so'),
    async () => {
      const handler = serve([[runAt(0)], 503, 503, 503, 503, 500, 500, 500, 500, [runAt(9)]]);
      let calls = 0;
      const { client } = await connect((call, response) => {
        if (++calls === 3) return void response.destroy();
        return handler(call, response);
      });
      expect(await watched(client, 1)).toEqual([
        expect.stringContaining('not now'),
        expect.stringContaining('not now'),
        'drun_0009 sess_9',
      ]);
    },
  );

  it('ends when the server refuses it', async () => {
    const { client } = await connect(serve([[runAt(0)], 403]));
    await expect(watched(client, 1)).rejects.toMatchObject({ status: 403 });
  });

  it('ends with its signal', async () => {
    const { client } = await connect(serve([[runAt(0)]]));
    const stop = new AbortController();
    const runs = client.deploymentRuns.watch({
      filters: {},
      intervalMs: 30_000,
      onTrouble: () => undefined,
      signal: stop.signal,
    });
    const next = runs.next();
    stop.abort();
    await expect(next).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('a run that is waited for', () => {
  const pending = runAt(1, PENDING);
  const busy = { status: 409, body: { error: { type: 'deployment_trigger_in_progress' } } };

  it(
    verifies('cli.trigger', 'is asked for again while it is pending, and over lost connections'),
    async () => {
      const answers = [busy, { status: 503, body: {} }, busy, { body: runAt(1) }];
      const { client, calls, clock } = await connect(() => answers.shift());
      const decided = await client.deploymentRuns.decided(pending, { timeoutMs: 50_000 });
      expect(decided.session_id).toBe('sess_1');
      expect(new Set(calls.map(({ path }) => path))).toEqual(
        new Set(['/v1/deployments/depl_1/runs/drun_0001']),
      );
      expect(clock.pauses.filter((ms) => ms === 1_000).length).toBeGreaterThanOrEqual(2);
    },
  );

  it('is given up when its time is over, and refused when it is not there', async () => {
    const { client, clock } = await connect(() => busy);
    const waiting = client.deploymentRuns.decided(pending, { timeoutMs: 2_500 });
    await expect(waiting).rejects.toMatchObject({ code: 'timeout' });
    expect(clock.pauses).toEqual([1_000, 1_000, 500]);
    await server.close();
    const gone = await connect(() => ({ status: 404, body: { error: 'not found' } }));
    const missing = gone.client.deploymentRuns.decided(pending, { timeoutMs: 2_500 });
    await expect(missing).rejects.toBeInstanceOf(ClientError);
  });

  it('is not asked for when it was decided at once', async () => {
    const { client, calls } = await connect(() => busy);
    expect(await client.deploymentRuns.decided(runAt(1), { timeoutMs: 0 })).toEqual(runAt(1));
    expect(calls).toEqual([]);
  });
});
