import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ALERT_CHAT_JOB, ALERT_MAIL_JOB } from '../../../../src/alerts/create-alerts.ts';
import { WAITING_JOB as WAITING } from '../../../../src/alerts/wait-alerts.ts';
import type { Alert } from '../../../../src/alerts/alert.ts';
import { GatewayError } from '../../../../src/core/errors.ts';
import type { Job, JobRun } from '../../../../src/jobs/jobs.ts';
import { budget as definition, toBudget } from '../../../../src/resources/kinds/budget.ts';
import type { Budget } from '../../../../src/usage/budgets/budget.ts';
import type { RunRow } from '../../../../src/scheduler/run-row.ts';
import { eventIdKey, eventKey, sessionKey } from '../../../../src/sessions/session-row.ts';
import type { SessionRow } from '../../../../src/sessions/session-row.ts';
import { verifies } from '../../../requirements.ts';
import { createAlertParts } from '../../../../src/server/compose/late/alerts.ts';
import type { AlertParts, AlertPartsOptions } from '../../../../src/server/compose/late/alerts.ts';
import { StoreError } from '../../../../src/store/store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { createLedger } from '../../../../src/usage/ledger/ledger-store.ts';
import { makeResources, MASTER_KEY } from '../../../resources/make-resources.ts';
import type { Resources } from '../../../resources/make-resources.ts';
import { createStarts, DAY, DOLLAR, outcome, principal } from '../../../usage/usage-fixtures.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const REFUSAL = new GatewayError('organization_spending_limit', {
  limit: {
    owner: 'budget',
    id: 'bud_1',
    name: 'team',
    unit: 'money',
    per: 'day',
    most: 10 * DOLLAR,
    used: 0,
    held: 0,
    needed: 11 * DOLLAR,
    freeAt: null,
  },
});
const WATCH = 'alert-watch';
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('alerts to the targets of the settings', () => {
  let resources: Resources;
  let organization: string;
  let fault: Error | undefined;
  let added: Job[];
  let lines: { message: string; fields: unknown }[];
  let parts: AlertParts;

  beforeEach(async () => {
    resources = makeResources();
    fault = undefined;
    [added, lines] = [[], []];
    const made = await resources.call('POST organizations', { body: { name: 'default' } });
    organization = made.body['id'];
    const { store, clock, repository } = resources;
    const watched: Store = {
      ...store,
      async commit(ops) {
        if (fault) throw fault;
        return store.commit(ops);
      },
    };
    const options = {
      store: watched,
      clock,
      repository,
      random: () => 0.5,
      masterKeys: [MASTER_KEY],
      mails: [],
      config: {
        outbound: { allow: [] },
        notifications: { webhooks: [] },
        alerts: { webhooks: [], chats: ['https://chat.example/hook'], mails: {} },
        limits: { runRetentionMs: DAY },
      },
      log: { error: (message: string, fields: unknown) => void lines.push({ message, fields }) },
      jobs: {
        toAdd: ({ kind, id }: Job, { inMs = 0 } = {}) => [
          { type: 'put', key: ['told', kind, id], value: inMs },
        ],
        toWake: async () => [],
        async add(job: Job) {
          added.push(job);
          return true;
        },
      },
    };
    parts = await createAlertParts(options as unknown as AlertPartsOptions);
    onTestFinished(() => parts.close());
  });

  const raised = async (): Promise<Alert[]> => {
    await settled();
    const rows = await resources.store.list<Alert>({ prefix: ['alert'], limit: 100 });
    return rows.map(({ value }) => value);
  };
  const messages = () => resources.store.list({ prefix: ['told'], limit: 100 });
  const watch = async (payload: unknown = null) => {
    const handler = parts.handlers.get(WATCH);
    if (!handler) throw new Error('nobody watches');
    return handler({ job: { kind: WATCH, id: WATCH, payload } } as unknown as JobRun);
  };
  const answeredBy = { model: 'acme/one', provider: 'acme', upstreamModel: 'one' };
  const begun = () => ({ ...createStarts(resources.clock)(), id: 'req_1' });

  /** A budget of 10 USD a day. */
  async function makeBudget(): Promise<Budget> {
    const body = { name: 'team', amount: '10.00', per: 'day', organization: 'default' };
    const { body: made } = await resources.call('POST budgets', { body });
    const scope = { organization: null };
    const stored = await resources.repository.find(definition, made['id'], scope);
    if (!stored) throw new Error('no budget');
    return toBudget(stored);
  }
  async function spend(budget: Budget, dollars: number): Promise<void> {
    const { store, clock } = resources;
    const ledger = createLedger({ store, clock, worker: 'w1' });
    const payer = principal({ organizationId: organization, budgets: [budget] });
    const entry = ledger.begin(createStarts(clock)({ principal: payer, bound: 1 }));
    await entry.admitted;
    entry.settle(outcome({ cost: dollars * DOLLAR }));
    await entry.settled;
  }

  it('are looked for by one job, and told by jobs', () => {
    expect(added).toEqual([{ kind: WATCH, id: WATCH, payload: null }]);
    expect([...parts.handlers.keys()].sort()).toEqual([
      ALERT_CHAT_JOB,
      ALERT_MAIL_JOB,
      WAITING,
      WATCH,
    ]);
  });

  it('tell of a call whose price nobody knows', async () => {
    parts.observe(begun(), outcome({ unpriced: true, answeredBy }));
    expect(await raised()).toMatchObject([
      {
        type: 'alert.unpriced',
        organization: 'org_1',
        at: resources.clock.now(),
        data: { request: 'req_1', provider: 'acme', model: 'one' },
      },
    ]);
    expect(await messages()).toHaveLength(1);
  });

  it('tell of an API once a day, whatever its clients ask it for', async () => {
    for (const path of ['/items/1', '/items/word-of-a-client'])
      parts.observe(
        begun(),
        outcome({
          unpriced: true,
          answeredBy: { model: 'crm', provider: 'crm', upstreamModel: `GET ${path}` },
        }),
      );
    const told = await raised();
    expect(told).toMatchObject([{ data: { provider: 'crm', model: 'crm' } }]);
    expect(JSON.stringify(told)).not.toContain('/items');
  });

  it.each([
    { unpriced: false, answeredBy },
    { unpriced: true, answeredBy: null },
  ])('do not tell of a call with %o', async (how) => {
    parts.observe(begun(), outcome(how as Parameters<typeof outcome>[0]));
    expect(await raised()).toEqual([]);
  });

  it('tell of a call that did not fit into its budget', async () => {
    const budget = await makeBudget();
    const at = resources.clock.now();
    parts.exceeded(budget, { ...begun(), at }, REFUSAL);
    expect(await raised()).toMatchObject([
      {
        type: 'alert.refusal',
        organization: 'org_1',
        at,
        data: { name: 'team', needed: '11.00', request: 'req_1' },
      },
    ]);
  });

  it('tell of a run that failed, in the commit that says so', async () => {
    const run = { id: 'run_1', organization: 'org_1', deploymentId: 'dep_1', error: null };
    expect(parts.ofRun(run as unknown as RunRow)).toEqual([]);
    const error = { type: 'turn_failed', message: 'no' };
    const ops = parts.ofRun({ ...run, error } as unknown as RunRow);
    expect(ops).toHaveLength(2);
    expect(ops[0]).toMatchObject({
      value: { type: 'alert.schedule', at: resources.clock.now(), data: { run: 'run_1' } },
    });
    expect(await raised()).toEqual([]);
  });

  it('tell of a Session of a Schedule that failed, by its name, in the commit that says so', async () => {
    const body = { name: 'helper', model: 'acme/one' };
    const agent = await resources.call('POST agents', { body, organization });
    const events = [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }];
    const schedule = await resources.call('POST deployments', {
      organization,
      body: { name: 'report', agent_id: agent.body['id'], initial_events: events },
    });
    const deploymentId = schedule.body['id'];
    const before = { id: 'sess_1', organization, deploymentId, status: 'running', awaiting: [] };
    const rest = { reason: 'retries_exhausted', message: 'no route' };
    const after = { ...before, status: 'idle', head: 7, rest };
    const announce = (one: object) =>
      parts.ofSession(before as unknown as SessionRow, one as SessionRow);
    expect(announce(before)).toBeUndefined();
    const ops = await announce(after);
    expect(ops).toHaveLength(2);
    expect(ops?.[0]).toMatchObject({
      value: { type: 'alert.schedule', data: { name: 'report', session: 'sess_1' } },
    });
    const gone = await announce({ ...after, deploymentId: 'depl_gone' });
    expect(gone?.[0]).toMatchObject({ value: { data: { name: 'depl_gone' } } });
    expect(await raised()).toEqual([]);
  });

  it(
    verifies('sessions.waiting', 'tell of a Session that waits for a person, once an hour'),
    async () => {
      const { store, clock } = resources;
      const since = clock.now();
      const row = { id: 'sess_1', organization, awaiting: [], archivedAt: null } as object;
      const waits = { ...row, head: 3, awaiting: ['sevt_1'], waitingSince: since };
      const call = { id: 'sevt_1', name: 'lookup', input: { secret: 'x' } };
      const put = (type: string, waiting: object = waits) =>
        store.commit([
          { type: 'put', key: sessionKey('sess_1'), value: waiting },
          { type: 'put', key: eventKey('sess_1', 2), value: { type, ...call } },
          { type: 'put', key: eventIdKey('sess_1', 'sevt_1'), value: 2 },
        ]);
      const announce = (before: object, after: object) =>
        parts.ofSession(before as SessionRow, after as SessionRow);
      expect(await announce(row, waits)).toEqual([
        { type: 'put', key: ['told', 'alert-waiting', 'sess_1/3'], value: 5_000 },
      ]);
      expect(announce(waits, { ...waits, deploymentId: null })).toBeUndefined();
      const look = async (from = since) => {
        const job = { payload: { session: 'sess_1', since: from } };
        return parts.handlers.get(WAITING)?.({ job } as unknown as JobRun);
      };
      // A program may be about to give the result.
      await put('agent.custom_tool_use');
      expect(await look()).toEqual({ againInMs: MINUTE });
      expect(await raised()).toEqual([]);
      await put('agent.mcp_tool_use');
      expect(await look()).toEqual({ againInMs: 5_000 });
      clock.advance(5_000);
      expect(await look()).toBe('done');
      const [alert, ...others] = await raised();
      expect(others).toEqual([]);
      expect(alert).toMatchObject({
        type: 'alert.waiting',
        organization,
        data: { session: 'sess_1', tools: 'lookup', since: new Date(since).toISOString() },
      });
      expect(JSON.stringify(alert)).not.toContain('secret');
      await put('agent.mcp_tool_use', { ...waits, awaiting: [], waitingSince: null });
      expect(await look()).toBe('done');
      expect(await raised()).toHaveLength(1);
      // The next wait of the same hour is reported in the next one, if it lasts.
      const next = clock.now();
      await put('agent.mcp_tool_use', { ...waits, waitingSince: next });
      clock.advance(5_000);
      const left = HOUR - (clock.now() % HOUR);
      expect(await look(next)).toEqual({ againInMs: left });
      expect(await raised()).toHaveLength(1);
      clock.advance(left);
      expect(await look(next)).toBe('done');
      expect(await raised()).toHaveLength(2);
    },
  );

  it.each([
    [new TypeError('a bug'), ['an alert was not raised']],
    [new StoreError('unavailable', 'away'), []],
  ])('are not raised after %s, which the log is told once', async (failure, told) => {
    fault = failure;
    parts.observe(begun(), outcome({ unpriced: true, answeredBy }));
    parts.exceeded(await makeBudget(), begun(), REFUSAL);
    expect(await raised()).toEqual([]);
    expect(lines.map(({ message }) => message)).toEqual([...told, ...told]);
  });

  describe('that no single call tells', () => {
    it('are looked for again after five seconds, from this look on', async () => {
      expect(await watch()).toEqual({
        againInMs: 5_000,
        payload: { lookedAt: resources.clock.now() },
      });
    });

    it('are marks of budgets', async () => {
      await spend(await makeBudget(), 8);
      await watch();
      const found = (await raised()).filter(({ type }) => type === 'alert.budget');
      expect(found).toMatchObject([
        { organization, data: { percent: 50 } },
        { organization, data: { percent: 80 } },
      ]);
      const before = (await messages()).length;
      await watch();
      expect(await messages()).toHaveLength(before);
    });

    it.each([
      [false, 0],
      [true, 1],
    ])('are those of a day that ended since the last look, known: %s', async (isKnown, count) => {
      const { clock } = resources;
      const budget = await makeBudget();
      clock.advance(DAY - (clock.now() % DAY) - MINUTE);
      const lookedAt = clock.now();
      await spend(budget, 5);
      clock.advance(11 * MINUTE);
      await watch(isKnown ? { lookedAt } : null);
      expect((await raised()).filter(({ type }) => type === 'alert.budget')).toHaveLength(count);
    });

    it('are outages, by the name of the provider, and their ends', async () => {
      const { store, clock, call } = resources;
      const { body } = await call('POST providers', { body: { name: 'acme', type: 'mock' } });
      const cooldown = { until: clock.now() + MINUTE, openings: 1 };
      for (const id of [body['id'], 'prov_gone'])
        await store.commit([{ type: 'put', key: ['cooldown', id], value: cooldown }]);
      await watch();
      const begun = await raised();
      expect(begun.map(({ text }) => text).sort()).toEqual([
        'Provider acme: fails and is left out',
        'Provider prov_gone: fails and is left out',
      ]);
      expect(begun).toMatchObject([{ organization }, { organization }]);
      await store.commit([{ type: 'delete', key: ['cooldown', body['id']] }]);
      await watch();
      const over = (await raised()).filter(({ type }) => type === 'alert.recovery');
      expect(over).toMatchObject([{ text: 'Provider acme: serves again', organization }]);
    });
  });
});
