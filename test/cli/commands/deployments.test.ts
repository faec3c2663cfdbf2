import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { startFakeServer } from '../../client/fake-server.ts';
import type { Call, Handler } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';
import type { CliOptions } from '../run-cli.ts';

const AT = '2026-11-21T07:00:00.000Z';
const NEXT = '2026-11-23T06:00:00.000Z';
const DEPLOYMENT = {
  id: 'depl_1',
  type: 'deployment',
  name: 'report',
  status: 'active',
  schedule: {
    type: 'cron',
    expression: '0 7 * * 1-5',
    timezone: 'Europe/Berlin',
    upcoming_runs_at: [NEXT],
  },
  created_at: AT,
};
const RUN = {
  id: 'drun_1',
  type: 'deployment_run',
  deployment_id: 'depl_1',
  agent: { type: 'agent', id: 'agent_1', version: 1 },
  trigger_context: { type: 'manual' },
  session_id: 'sess_1' as string | null,
  error: null as { type: string; message: string } | null,
  created_at: AT,
};
/** With the name of its Schedule, as commands show it. */
const NAMED = { ...RUN, deployment_name: 'report' };
const outcome = (type: string, message: string | null = null) => ({ type, reason: null, message });
/** With what became of it, as commands show it where they ask for its Session. */
const COMPLETED = { ...NAMED, outcome: outcome('completed') };
const PENDING = { ...RUN, session_id: null };
const FAILED = {
  ...PENDING,
  error: { type: 'agent_archived_error', message: 'agent agent_1 is archived' },
};
const BUSY = {
  status: 409,
  body: { error: { type: 'deployment_trigger_in_progress', message: 'not decided yet' } },
};

type Answer = ReturnType<Handler>;
type Route = (call: Call, response: Parameters<Handler>[1]) => Answer;

/** The list of its one Session. */
const sessions = (became: object | null, rest: object = {}) => ({
  body: {
    data: [{ id: 'sess_1', status: 'idle', created_at: AT, outcome: became, ...rest }],
    next_page: null,
  },
});

/** A gateway with one Schedule; `routes` answer further calls, `METHOD path`. */
function gateway(routes: Record<string, Route> = {}): Handler {
  return (call, response) => {
    const { method, path } = call;
    const own = routes[`${method} ${path}`];
    if (own) return own(call, response);
    if (path === '/v1/deployments') {
      const name = call.query.get('name') ?? 'report';
      return { body: { data: name === 'report' ? [DEPLOYMENT] : [], next_page: null } };
    }
    if (path === '/v1/sessions') return sessions(outcome('completed'));
    if (path === '/v1/deployment_runs') return { body: { data: [RUN], next_page: null } };
    if (path === '/v1/deployment_runs/drun_1') return { body: RUN };
    if (!path.startsWith('/v1/deployments/depl_1'))
      return { status: 404, body: { error: 'deployment not found' } };
    if (path.endsWith('/chat/test')) return { body: { delivered: true } };
    if (path.endsWith('/runs') || path.endsWith('/runs/drun_1')) return { body: RUN };
    return { body: method === 'DELETE' ? { id: 'depl_1', deleted: true } : DEPLOYMENT };
  };
}

async function run(argv: string[], handler: Handler = gateway(), options: CliOptions = {}) {
  const server = await startFakeServer(handler);
  const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-test', ...options.env };
  try {
    return { ...(await runCli(argv, { ...options, env })), calls: server.calls };
  } finally {
    await server.close();
  }
}

it('finds an archived Schedule by its name, and says what becomes of it', async () => {
  const archived = { ...DEPLOYMENT, status: 'archived', archived_at: AT };
  const refused = {
    status: 409,
    body: { error: { type: 'deployment_archived', message: 'deployment depl_1 is archived' } },
  };
  const handler = gateway({
    'GET /v1/deployments': ({ query }) => ({
      body: { data: query.get('include_archived') ? [archived] : [], next_page: null },
    }),
    'GET /v1/deployments/depl_1': () => ({ body: archived }),
    'POST /v1/deployments/depl_1/pause': () => ({ body: archived }),
    'POST /v1/deployments/depl_1/unpause': () => refused,
    'POST /v1/deployments/depl_1/runs': () => refused,
  });
  const paused = await run(['schedules', 'pause', 'report'], handler);
  expect([paused.code, paused.stdout]).toEqual([0, 'Schedule report (depl_1) is archived\n']);
  expect((await run(['schedules', 'get', 'report'], handler)).stdout).toContain('archived');
  for (const words of [['schedules', 'unpause'], ['trigger']]) {
    const { code, stderr } = await run([...words, 'report'], handler);
    expect([code, stderr]).toEqual([5, expect.stringContaining('is archived')]);
  }
});

const linesOf = (stdout: string): any[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('gateway deployments', () => {
  it.each(['deployments', 'schedules'])(
    verifies('cli.schedules', '%s lists what was asked for'),
    async (word) => {
      const argv = [word, 'list', '--status', 'active', '--agent', 'agent_1', '--archived'];
      const { stdout, calls } = await run(argv);
      expect(stdout).toMatch(/^NAME +STATUS +SCHEDULE +NEXT +ID$/m);
      // Its own clocks, as its expression is read.
      expect(stdout).toMatch(
        /^report +active +0 7 \* \* 1-5 Europe\/Berlin +Mon 2026-11-23 07:00 GMT\+1 +depl_1$/m,
      );
      expect(Object.fromEntries(calls[0]?.query ?? [])).toEqual({
        limit: '100',
        status: 'active',
        agent_id: 'agent_1',
        include_archived: 'true',
      });
      expect((await run([word, 'ls', '-q'])).stdout).toBe('report\n');
    },
  );

  it('finds one by its id or name, and nothing by a name that several have', async () => {
    for (const named of ['depl_1', 'report']) {
      const { stdout } = await run(['deployments', 'get', named, '-o', 'json']);
      expect(JSON.parse(stdout).data).toEqual(DEPLOYMENT);
    }
    const twins = { data: [DEPLOYMENT, { ...DEPLOYMENT, id: 'depl_2' }], next_page: null };
    const several = await run(
      ['deployments', 'pause', 'report'],
      gateway({ 'GET /v1/deployments': () => ({ body: twins }) }),
    );
    expect(several.code).toBe(5);
    expect(several.stderr).toContain('depl_1, depl_2');
    expect(several.calls.every(({ method }) => method === 'GET')).toBe(true);
  });

  it.each([
    ['pause', 'POST', '/v1/deployments/depl_1/pause', false],
    ['unpause', 'POST', '/v1/deployments/depl_1/unpause', false],
    ['archive', 'POST', '/v1/deployments/depl_1/archive', true],
    ['delete', 'DELETE', '/v1/deployments/depl_1', true],
    ['test-notification', 'POST', '/v1/deployments/depl_1/notifications/chat/test', false],
  ])(verifies('cli.schedules', '%s does it'), async (verb, ...[method, path, asks]) => {
    const unasked = await run(['deployments', verb, 'report']);
    expect(unasked.code).toBe(asks ? 64 : 0);
    const done = await run(['deployments', verb, 'report', '--yes', '-o', 'json']);
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.calls.at(-1)).toMatchObject({ method, path });
    expect(done.json()).toMatchObject({ ok: true, data: { id: 'depl_1' } });
    expect((await run(['deployments', verb, 'none', '--yes'])).code).toBe(1);
  });

  it('says that a chat did not take the test message', async () => {
    const path = 'POST /v1/deployments/depl_1/notifications/chat/test';
    const body = { error: { type: 'notification_failed', message: 'slack refused the message' } };
    const routes = { [path]: () => ({ status: 502, body }) };
    const refused = await run(['deployments', 'test-notification', 'report'], gateway(routes));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('slack refused the message');
    expect(refused.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('get, archive and delete of a missing one may be fine', async () => {
    for (const verb of ['get', 'archive', 'delete'])
      expect(
        await run(['deployments', verb, 'none', '--yes', '--ignore-not-found']),
        verb,
      ).toMatchObject({ code: 0, stdout: '' });
  });
});

describe('gateway deployments next', () => {
  const next = (...argv: string[]) => runCli(['deployments', 'next', ...argv]);

  it(
    verifies('cli.schedules', 'says without a server when an expression fires, there and in UTC'),
    async () => {
      const zone = ['--timezone', 'Europe/Berlin', '--from', '2026-03-27T12:00:00Z'];
      const { code, stdout } = await next('30 2 * * *', ...zone, '--count', '3');
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: [
          '2026-03-28T01:30:00.000Z  Sat 2026-03-28 02:30 GMT+1',
          '2026-03-29T01:00:00.000Z  Sun 2026-03-29 03:00 GMT+2',
          '2026-03-30T00:30:00.000Z  Mon 2026-03-30 02:30 GMT+2',
          '',
        ].join('\n'),
      });
      expect((await next('0 7 * * 1-5', '-o', 'json')).json().data).toEqual({
        expression: '0 7 * * 1-5',
        timezone: 'UTC',
        upcoming_runs_at: Array.from({ length: 5 }, () => expect.stringMatching(/T07:00:00.000Z$/)),
      });
    },
  );

  it('refuses what is no expression, zone, time or count', async () => {
    for (const argv of [
      ['@daily'],
      ['0 7 * * 1-5', '--timezone', '+02:00'],
      ['0 7 * * 1-5', '--from', 'soon'],
      ['0 7 * * 1-5', '--from', '2026-13-01'],
      ['0 7 * * 1-5', '--count', '0'],
    ])
      expect((await next(...argv)).code, argv.join(' ')).toBe(64);
    const named = await next('0 7 * * MON');
    expect(named.stderr).toContain('day of week: expected *, numbers, ranges and steps, not `MON`');
    expect(named.stderr).toContain("as one argument: '0 7 * * 1'");
  });
});

// They wait more than they work.
describe.concurrent('gateway trigger', () => {
  const trigger = (routes: Record<string, Route>, ...argv: string[]) =>
    run(['trigger', 'report', ...argv], gateway(routes));
  const POST = 'POST /v1/deployments/depl_1/runs';
  const NESTED = 'GET /v1/deployments/depl_1/runs/drun_1';
  const posts = (calls: Call[]) => calls.filter(({ method }) => method === 'POST');

  it(verifies('cli.trigger', 'sends {} and prints the run'), async () => {
    const { code, calls, json } = await trigger({}, '-o', 'json');
    expect(code).toBe(0);
    expect(json().data).toEqual(NAMED);
    expect(posts(calls).map(({ path, body }) => [path, body])).toEqual([
      ['/v1/deployments/depl_1/runs', {}],
    ]);
    expect((await trigger({})).stdout).toMatch(/^session_id +sess_1$/m);
    const pending = await trigger({ [POST]: () => ({ body: PENDING }) });
    expect(pending).toMatchObject({ code: 0 });
    expect(pending.stdout).toMatch(/^status +pending$/m);
  });

  it(
    verifies(
      'cli.trigger',
      'waits with --wait and exits 0 for a Session that completed, 7 without',
    ),
    async () => {
      const answers: Answer[] = [BUSY, { body: RUN }];
      const decided = await trigger(
        { [POST]: () => ({ body: PENDING }), [NESTED]: () => answers.shift() },
        '--wait',
        '-o',
        'json',
      );
      expect(decided.code).toBe(0);
      expect(decided.json().data).toEqual(COMPLETED);
      const failed = await trigger({ [POST]: () => ({ body: FAILED }) }, '--wait');
      expect(failed.code).toBe(7);
      expect(failed.stderr).toContain('agent_archived_error: agent agent_1 is archived');
      const json = await trigger({ [POST]: () => ({ body: FAILED }) }, '--wait', '-o', 'json');
      expect(json.code).toBe(7);
      expect(json.json()).toMatchObject({
        ok: false,
        data: FAILED,
        error: { code: 'agent_archived_error' },
      });
    },
  );

  it(
    verifies(
      'schedules.outcome',
      'waits with --wait until its Session is over, and exits 7 for others',
    ),
    async () => {
      const SESSIONS = 'GET /v1/sessions';
      const looks = ['running', 'running', 'failed'];
      const failed = await trigger(
        { [SESSIONS]: () => sessions(outcome(looks.shift() ?? '', 'no provider route succeeded')) },
        '--wait',
      );
      expect(failed.code).toBe(7);
      expect(failed.stdout).toMatch(/^outcome +failed: no provider route succeeded$/m);
      expect(failed.stderr).toContain('run drun_1 failed: no provider route succeeded');
      expect(failed.stderr).toContain('gateway sessions events sess_1');
      expect(failed.stderr).toContain('gateway trigger report');
      const late = { [SESSIONS]: () => sessions(outcome('running')) };
      const slow = await trigger(late, '--wait', '--timeout', '1s');
      expect([slow.code, slow.stderr]).toEqual([8, expect.stringContaining('gateway wait drun_1')]);
      for (const [became, code] of [
        [sessions(outcome('ended_by_time', 'its time is over')), 7],
        [sessions(outcome('completed')), 0],
        [sessions(null, { status: 'idle' }), 8],
        [{ status: 403, body: { error: 'insufficient_scope' } }, 8],
      ] as const)
        expect((await trigger({ [SESSIONS]: () => became }, '--wait')).code).toBe(code);
    },
  );

  it(verifies('schedules.outcome', 'says what a Session waits for, and exits 7'), async () => {
    const waiting = {
      since: AT,
      message: 'the session waits for an answer to lookup',
      calls: [
        { id: 'sevt_7', answered_by: 'user.tool_confirmation', name: 'lookup', server: null },
      ],
    };
    const routes: Record<string, Route> = {
      'GET /v1/sessions': () => sessions(outcome('waiting'), { waiting }),
      'GET /v1/sessions/sess_1': () => ({
        body: { id: 'sess_1', status: 'idle', created_at: AT, waiting },
      }),
    };
    for (const argv of [
      ['trigger', 'report', '--wait'],
      ['wait', 'drun_1'],
    ]) {
      const waits = await run([...argv, '-o', 'json'], gateway(routes));
      expect(waits.code, argv[0]).toBe(7);
      expect(waits.json().error).toMatchObject({
        code: 'session_waiting',
        message: expect.stringContaining('waits for an answer to lookup'),
        hint: expect.stringContaining('gateway sessions allow sess_1'),
      });
    }
  });

  it(
    verifies('cli.trigger', 'exits 8 when the run is pending for longer than --timeout'),
    async () => {
      const routes = { [POST]: () => ({ body: PENDING }), [NESTED]: () => BUSY };
      const late = await trigger(routes, '--wait', '--timeout', '1s', '-o', 'json');
      expect(late.code).toBe(8);
      expect(late.json()).toMatchObject({ ok: false, data: PENDING, error: { code: 'timeout' } });
      expect(late.json().error.hint).toContain('gateway runs get drun_1');
    },
  );

  it(
    verifies(
      'cli.trigger.no-auto-retry',
      'sends nothing twice, lists the runs since then and exits 8 when the answer is lost',
    ),
    async () => {
      const OTHER = { ...RUN, id: 'drun_2' };
      const faults: Route[] = [
        (_call, response) => void response.destroy(),
        () => undefined,
        () => ({ status: 500, body: { error: 'internal error' } }),
        () => ({ status: 503, body: { error: 'the store is not available' } }),
        () => ({ status: 200, body: { hello: 'proxy' } }),
      ];
      const lose = async (fault: Route, index: number): Promise<void> => {
        let isSent = false;
        const routes: Record<string, Route> = {
          [POST]: (call, response) => {
            isSent = true;
            return fault(call, response);
          },
          'GET /v1/deployment_runs': () => ({
            body: { data: isSent ? [OTHER, RUN] : [RUN], next_page: null },
          }),
        };
        const lost = await trigger(routes, '--wait', '--timeout', '1s', '-o', 'json');
        expect(lost.code, String(index)).toBe(8);
        expect(posts(lost.calls)).toHaveLength(1);
        expect(lost.json()).toMatchObject({
          ok: false,
          data: { candidates: [OTHER] },
          error: { code: 'unknown_outcome' },
        });
        expect(lost.calls.at(-1)?.query.get('deployment_id')).toBe('depl_1');
      };
      await Promise.all(faults.map(lose));
    },
  );

  it(
    verifies('cli.trigger.no-auto-retry', 'says so when the gateway cannot tell the runs either'),
    async () => {
      let isSent = false;
      const routes: Record<string, Route> = {
        [POST]: (_call, response) => {
          isSent = true;
          return void response.destroy();
        },
        'GET /v1/deployment_runs': () =>
          isSent
            ? { status: 403, body: { error: 'insufficient_scope' } }
            : { body: { data: [], next_page: null } },
      };
      const lost = await trigger(routes, '-o', 'json');
      expect(lost.code).toBe(8);
      expect(lost.json().data).toEqual({ candidates: null });
      expect(lost.json().error.hint).toContain('before you trigger it again');
    },
  );

  it('fails as usual when it was refused or never sent', async () => {
    const conflict = {
      status: 409,
      body: { error: { type: 'deployment_archived', message: 'no' } },
    };
    const refused = await trigger({ [POST]: () => conflict }, '-o', 'json');
    expect(refused.code).toBe(5);
    expect(refused.json()).toMatchObject({ data: null, error: { code: 'deployment_archived' } });
  });

  it(
    verifies('cli.trigger', 'follows the Session with --tail, whose failure exits 7'),
    async () => {
      const event = (type: string, rest: object = {}) => ({
        id: `sevt_${type}`,
        type,
        processed_at: AT,
        ...rest,
      });
      const said = event('agent.message', { content: [{ type: 'text', text: 'All is well.' }] });
      const tail = (reason: string, ...argv: string[]) => {
        const history = [
          event('session.status_running'),
          said,
          event('session.status_idle', { stop_reason: { type: reason } }),
        ];
        const routes: Record<string, Route> = {
          'GET /v1/sessions/sess_1/events': () => ({ body: { data: history, next_page: null } }),
        };
        return trigger(routes, '--tail', ...argv);
      };
      const good = await tail('end_turn');
      expect(good.code).toBe(0);
      expect(good.stdout).toMatch(
        /^\S+ {2}report \(depl_1\) {2}drun_1 {2}manual {2}sess_1 {2}began its Session$/m,
      );
      expect(good.stdout).toContain('agent.message  All is well.');
      const lines = linesOf((await tail('end_turn', '-o', 'json')).stdout);
      expect(lines[1]).toEqual({ type: 'event', event: NAMED });
      expect(lines[3]).toEqual({ type: 'event', event: said });
      expect(lines.at(-1)).toEqual({ type: 'end', reason: 'end_turn' });
      expect((await tail('retries_exhausted')).code).toBe(7);
      expect((await trigger({ [POST]: () => ({ body: FAILED }) }, '--tail')).code).toBe(7);
    },
  );
});

describe('gateway runs', () => {
  const SCHEDULED = {
    ...FAILED,
    id: 'drun_2',
    trigger_context: { type: 'schedule', scheduled_at: AT },
  };

  it(verifies('cli.runs', 'lists by Schedule, trigger, status and time'), async () => {
    const list = { body: { data: [SCHEDULED, RUN], next_page: null } };
    const { stdout, calls } = await run(
      (
        'runs list --deployment report --trigger schedule -n 7 --status failed --status pending' +
        ` --from 2026-11-20 --to ${AT}`
      ).split(' '),
      gateway({ 'GET /v1/deployment_runs': () => list }),
    );
    expect(stdout).toMatch(/^CREATED .* ID\n/);
    expect(stdout).toMatch(/^CREATED +SCHEDULE +TRIGGER +SESSION +ID$/m);
    expect(stdout).toMatch(/report +schedule +failed: agent agent_1 is archived +drun_2$/m);
    expect(stdout).toMatch(/report.* manual +completed +drun_1$/m);
    expect(stdout).not.toContain('succeeded');
    const asked = calls.find(({ path }) => path === '/v1/deployment_runs');
    expect([...(asked?.query ?? [])]).toEqual([
      ['limit', '7'],
      ['deployment_id', 'depl_1'],
      ['trigger_type', 'schedule'],
      ['status', 'failed'],
      ['status', 'pending'],
      ['created_at[gte]', '2026-11-20T00:00:00.000Z'],
      ['created_at[lte]', AT],
    ]);
    expect((await run(['runs', 'list', '-q'])).stdout).toBe('drun_1\n');
    const gone = await run(['runs', 'list', '--deployment', 'depl_gone']);
    expect(gone.calls[0]?.query.get('deployment_id')).toBe('depl_gone');
  });

  it(
    verifies('schedules.outcome', 'lists those that failed, however many others there are'),
    async () => {
      const many = Array.from({ length: 230 }, (_one, at) => ({
        ...RUN,
        id: `drun_${at}`,
        session_id: `sess_${at}`,
      }));
      const bad = new Set(['sess_7', 'sess_150', 'sess_229']);
      const routes: Record<string, Route> = {
        'GET /v1/deployment_runs': ({ query }) => {
          const from = Number(query.get('page') ?? 0);
          const next = from + Number(query.get('limit'));
          const next_page = next < many.length ? String(next) : null;
          return { body: { data: many.slice(from, next), next_page } };
        },
        'GET /v1/sessions': ({ query }) => {
          const ids = query.get('ids')?.split(',') ?? [];
          const data = ids.map((id) => ({
            id,
            status: 'idle',
            created_at: AT,
            outcome: outcome(bad.has(id) ? 'failed' : 'completed', 'no luck'),
          }));
          return { body: { data, next_page: null } };
        },
      };
      const failed = await run(['runs', 'list', '--failed', '-q'], gateway(routes));
      expect(failed.stdout).toBe('drun_7\ndrun_150\ndrun_229\n');
      expect(failed.calls.filter(({ path }) => path === '/v1/sessions')).toHaveLength(3);
      const two = await run(['runs', 'list', '--failed', '-n', '2', '-q'], gateway(routes));
      expect(two.stdout).toBe('drun_7\ndrun_150\n');
      const all = await run(['runs', 'list', '-n', '3', '-q'], gateway(routes));
      expect(all.stdout).toBe('drun_0\ndrun_1\ndrun_2\n');
      expect(all.calls).toHaveLength(2);
    },
  );

  it(
    verifies('schedules.outcome', 'is shown as unknown to a key that may not see Sessions'),
    async () => {
      const forbidden = { status: 403, body: { error: 'insufficient_scope' } };
      const { code, stdout } = await run(
        ['runs', 'get', 'drun_1'],
        gateway({ 'GET /v1/sessions': () => forbidden }),
      );
      expect(code).toBe(0);
      expect(stdout).toMatch(/^outcome +unknown: this key may not see Sessions/m);
      expect(stdout).toMatch(/^next +.*gateway runs list/m);
    },
  );

  it(verifies('cli.runs', 'shows one'), async () => {
    expect((await run(['runs', 'get', 'drun_1', '-o', 'json'])).json().data).toEqual(COMPLETED);
    expect((await run(['runs', 'get', 'drun_1'])).stdout).toMatch(/^outcome +completed$/m);
    expect((await run(['runs', 'get', 'drun_9'])).code).toBe(1);
    expect((await run(['runs', 'get', 'drun_9', '--ignore-not-found'])).code).toBe(0);
  });

  it(
    verifies(
      'cli.runs',
      'watches until it is interrupted, also past a gateway that fails for a while',
    ),
    async () => {
      const signals = new EventEmitter();
      const none = { body: { data: [], next_page: null } };
      const before = { body: { data: [RUN], next_page: null } };
      const looks: Answer[] = [
        before,
        before,
        { status: 502, body: { error: 'bad gateway' }, headers: { 'retry-after': '0' } },
        { body: { data: [SCHEDULED, RUN], next_page: null } },
      ];
      const watched = await run(
        ['runs', 'watch', '--status', 'failed', '--interval', '1ms', '-o', 'json'],
        gateway({
          'GET /v1/deployment_runs': ({ query }) =>
            query.get('status') === 'pending' ? none : looks.length > 1 ? looks.shift() : looks[0],
        }),
        { signals, onStdout: (text) => text.includes('drun_2') && signals.emit('SIGINT') },
      );
      expect(watched.code).toBe(130);
      expect(linesOf(watched.stdout)).toEqual([
        { type: 'version', version: 1 },
        {
          type: 'event',
          event: {
            ...SCHEDULED,
            deployment_name: 'report',
            outcome: {
              type: 'failed',
              reason: 'agent_archived_error',
              message: FAILED.error.message,
            },
          },
        },
        expect.objectContaining({ type: 'end', reason: 'interrupted' }),
      ]);
    },
  );
});
