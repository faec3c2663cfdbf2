import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/core/log.ts';
import { createJobs } from '../../../src/jobs/create-jobs.ts';
import type { JobResult } from '../../../src/jobs/jobs.ts';
import type { OwnWebhook } from '../../../src/resources/kinds/chat-webhooks.ts';
import { NOTIFY_JOB } from '../../../src/scheduler/job-kinds.ts';
import { createNotifier } from '../../../src/scheduler/notify/notifier.ts';
import type { NotifiedSchedule } from '../../../src/scheduler/notify/notifier.ts';
import { createMessageSender } from '../../../src/scheduler/notify/send-message.ts';
import type { MessageSender } from '../../../src/scheduler/notify/send-message.ts';
import { runKey } from '../../../src/scheduler/run-row.ts';
import type { RunRow } from '../../../src/scheduler/run-row.ts';
import { createRunStore } from '../../../src/scheduler/runs.ts';
import type { SessionOutcome } from '../../../src/sessions/outcome.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { startChatReceiver } from './chat-receiver.ts';
import type { ChatReceiver } from './chat-receiver.ts';

const SECRET = 'canary-token-5f1e';
const RUN: RunRow = {
  id: 'drun_1',
  organization: 'org_1',
  deploymentId: 'depl_1',
  agent: { id: 'agent_1', version: 1 },
  trigger: { type: 'manual' },
  payer: { keyId: 'key_1', keyName: 'first', organizationId: 'org_1' },
  sessionId: 'sess_1',
  error: null,
  createdAt: '2026-11-21T00:00:00.000Z',
};

let receiver: ChatReceiver;
let sender: MessageSender;
beforeEach(async () => {
  receiver = await startChatReceiver();
});
afterEach(async () => {
  await sender.close();
  await receiver.close();
});

function setUp(options: { format?: OwnWebhook['format']; own?: OwnWebhook[] } = {}) {
  const { format = 'slack' } = options;
  const own = options.own ?? [
    { name: 'ours', url: `${receiver.url}/bots`, format, success: 'provider' as const },
  ];
  sender = createMessageSender({ own, allow: [] });
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const jobs = createJobs({ store, clock, worker: 'one' });
  const lines: string[] = [];
  const log = createLog({
    clock,
    level: 'debug',
    format: 'json',
    write: (text) => void lines.push(text),
  });
  const schedules = new Map<string, NotifiedSchedule>([
    ['depl_1', { name: 'Morning report', webhook: `${receiver.url}/bots/${SECRET}` }],
  ]);
  const runs = createRunStore(store);
  /** Outcomes of the Session at each look. */
  const outcomes: (SessionOutcome | null)[] = [];
  const notifier = createNotifier({
    jobs,
    runs,
    clock,
    log,
    sender,
    findSchedule: async (organization, id) =>
      organization === 'org_1' ? schedules.get(id) : undefined,
    findOutcome: async () => outcomes.shift() ?? null,
  });
  /** Decides a run and does one go at announcing it. */
  const announce = async (
    run: RunRow = RUN,
    attempt = 1,
    rest: object = {},
  ): Promise<JobResult> => {
    await store.commit([{ type: 'put', key: runKey(run.id), value: run }]);
    const [added] = notifier.announce(run);
    const row = added?.type === 'put' ? (added.value as { payload: unknown }) : undefined;
    const payload = { ...(row?.payload as object), ...rest };
    const job = { kind: NOTIFY_JOB, id: run.id, payload };
    return notifier.handler({ job, attempt, failures: 0, signal: new AbortController().signal });
  };
  const told = () => {
    log.flush();
    return lines.join('');
  };
  return { notifier, store, schedules, announce, told, jobs, outcomes };
}

describe('an announcement of a run', () => {
  it(
    verifies(
      'deployments.notification.on-run',
      'says Schedule, run, trigger, outcome, Session or error, and the time',
    ),
    async () => {
      const { announce, outcomes } = setUp();
      outcomes.push({ type: 'completed', reason: 'end_turn', message: null });
      expect(await announce()).toBe('done');
      expect(receiver.received).toHaveLength(1);
      expect(receiver.received[0]).toMatchObject({ path: `/bots/${SECRET}` });
      expect(receiver.received[0]?.body.text.split('\n')).toEqual([
        'Schedule Morning report: succeeded',
        'Schedule id: depl_1',
        'Run: drun_1',
        'Trigger: manual',
        'Session: sess_1',
        'Time: 2026-11-21T00:00:00.000Z',
      ]);
      await announce({
        ...RUN,
        id: 'drun_2',
        trigger: { type: 'schedule', scheduledAt: Date.UTC(2026, 10, 20, 7) },
        sessionId: null,
        error: { type: 'agent_archived_error', message: 'agent agent_1 is archived' },
      });
      expect(receiver.received[1]?.body.text.split('\n')).toEqual([
        'Schedule Morning report: failed',
        'Schedule id: depl_1',
        'Run: drun_2',
        'Trigger: schedule, due 2026-11-20T07:00:00.000Z',
        'Error: agent_archived_error: agent agent_1 is archived',
        'Time: 2026-11-21T00:00:00.000Z',
      ]);
    },
  );

  it.each([
    ['failed', 'failed', 'no provider route succeeded'],
    ['waiting', 'waits for a person', null],
    ['ended_by_time', 'was ended by time', 'the session has reached its timeout'],
    [null, 'began its Session', null],
  ] as const)(
    verifies('schedules.outcome', 'waits for its Session and says what became of it: %s'),
    async (type, word, message) => {
      const { announce, outcomes } = setUp();
      const reason = 'a_reason';
      const running = { type: 'running', reason: null, message: null } as const;
      outcomes.push(running, running, type && { type, reason, message });
      const first = await announce();
      expect(first).toMatchObject({ againInMs: 1_000, payload: { looks: 1 } });
      expect(await announce(RUN, 2, { looks: 1 })).toMatchObject({ againInMs: 2_000 });
      expect(receiver.received).toHaveLength(0);
      expect(await announce(RUN, 3, { looks: 2 })).toBe('done');
      const lines: string[] = receiver.received[0]?.body.text.split('\n');
      expect(lines[0]).toBe(`Schedule Morning report: ${word}`);
      expect(lines).toContain('Session: sess_1');
      const faults = lines.filter((line) => line.startsWith('Error: '));
      expect(faults).toEqual(message === null ? [] : [`Error: a_reason: ${message}`]);
    },
  );

  it('counts as its tries those alone in which it was sent', async () => {
    const { announce, told } = setUp();
    receiver.answer({ status: 500, body: '' });
    expect(await announce(RUN, 12, { looks: 7 })).toEqual({ againInMs: 1_800_000 });
    expect(await announce(RUN, 13, { looks: 7 })).toBe('done');
    expect(told()).toContain('"attempts":6');
  });

  it("keeps to its lines and to what every provider takes, whatever others' text says", async () => {
    const { announce, schedules } = setUp({ format: 'wecom' });
    receiver.answer({ status: 200, body: '{"errcode":0}' });
    schedules.set('depl_1', {
      name: `a\nRun: drun_9\u0007<@all>${'𠜎'.repeat(999)}`,
      webhook: `${receiver.url}/bots/1`,
    });
    const error = { type: 'unknown_error', message: '𠜎\n'.repeat(5_000) } as const;
    expect(await announce({ ...RUN, sessionId: null, error })).toBe('done');
    const text: string = receiver.received[0]?.body.text.content;
    expect(text.split('\n')).toHaveLength(6);
    expect(text).toContain('Schedule a Run: drun_9 ‹@all›𠜎');
    expect(Buffer.byteLength(text)).toBeLessThan(2_048);
    expect(Buffer.from(text).toString()).toBe(text);
  });

  it(
    verifies(
      'deployments.notification.on-run',
      'is tried again for three quarters of an hour, then given up without naming the webhook',
    ),
    async () => {
      const { announce, told, store } = setUp();
      receiver.answer({ status: 500, body: SECRET });
      const pauses: JobResult[] = [];
      for (let attempt = 1; attempt <= 6; attempt++) pauses.push(await announce(RUN, attempt));
      expect(pauses).toEqual([
        { againInMs: 5_000 },
        { againInMs: 30_000 },
        { againInMs: 120_000 },
        { againInMs: 600_000 },
        { againInMs: 1_800_000 },
        'done',
      ]);
      expect(receiver.received).toHaveLength(6);
      const lines = told().trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
        expect.objectContaining({
          level: 'warn',
          deployment: 'depl_1',
          run: 'drun_1',
          reason: 'ours refused the message with 500',
          attempts: 6,
        }),
      ]);
      expect(told()).not.toContain(SECRET);
      expect((await store.get(runKey('drun_1')))?.value).toEqual(RUN);
    },
  );

  it('is tried again when nobody answered and given up at once when it never will be taken', async () => {
    const { announce, told } = setUp();
    receiver.answer('hang up');
    expect(await announce()).toEqual({ againInMs: 5_000 });
    receiver.answer({ status: 429, body: 'rate_limited' });
    expect(await announce()).toEqual({ againInMs: 5_000 });
    receiver.answer({ status: 200, body: 'no_service' });
    expect(await announce()).toEqual({ againInMs: 5_000 });
    expect(told()).toBe('');
    receiver.answer({ status: 404, body: 'no_service' });
    expect(await announce()).toBe('done');
    expect(told()).toContain('refused the message with 404');
  });

  it('follows no redirect', async () => {
    const { announce, told } = setUp();
    receiver.answer({ status: 307, body: 'ok', location: '/elsewhere' });
    expect(await announce()).toBe('done');
    expect(receiver.received.map(({ path }) => path)).toEqual([`/bots/${SECRET}`]);
    expect(told()).toContain('refused the message with 307');
  });

  it('goes nowhere without a webhook, a Schedule or a run', async () => {
    const { announce, schedules, notifier } = setUp();
    const goes = { kind: NOTIFY_JOB, id: 'drun_7', payload: { organization: 'org_1' } };
    const { signal } = new AbortController();
    expect(await notifier.handler({ job: goes, attempt: 1, failures: 0, signal })).toBe('done');
    schedules.set('depl_1', { name: 'Morning report', webhook: undefined });
    expect(await announce()).toBe('done');
    schedules.clear();
    expect(await announce()).toBe('done');
    expect(receiver.received).toEqual([]);
  });

  it('goes to no bot that the operator took back, and to no private address by another name', async () => {
    const { announce, schedules, told } = setUp({ own: [] });
    expect(await announce()).toBe('done');
    expect(told()).toContain('of no known provider any more');
    await sender.close();
    const again = setUp({
      own: [{ name: 'ours', url: 'http://127.0.0.1:1/', format: 'slack', success: 'status' }],
    });
    expect(await again.announce()).toBe('done');
    expect(receiver.received).toEqual([]);
    expect(schedules.size).toBe(1);
  });

  it('is a durable job of the run, added once', async () => {
    const { notifier, store, jobs } = setUp();
    expect(await store.commit(notifier.announce(RUN))).toMatchObject({ ok: true });
    expect(await store.commit(notifier.announce(RUN))).toMatchObject({ ok: false });
    expect(await jobs.add({ kind: NOTIFY_JOB, id: 'drun_1', payload: null })).toBe(false);
  });
});

describe('the test message', () => {
  it(
    verifies(
      'deployments.notification.test',
      'deployments.notification.test-outcome',
      'is one fixed text, and counts as delivered only when the provider says so',
    ),
    async () => {
      const { notifier } = setUp({ format: 'feishu' });
      receiver.answer({ status: 200, body: '{"code":0,"msg":"success"}' });
      await notifier.test('org_1', 'depl_1');
      await notifier.test('org_1', 'depl_1');
      const [first, second] = receiver.received;
      expect(first?.body).toEqual({
        msg_type: 'text',
        content: { text: expect.stringContaining('test') },
      });
      expect(second?.body).toEqual(first?.body);
      for (const answer of [
        { status: 200, body: '{"code":19001,"msg":"param invalid"}' },
        { status: 200, body: 'ok' },
        { status: 404, body: '{"code":0}' },
        'hang up',
      ] as const) {
        receiver.answer(answer);
        const failure = await notifier.test('org_1', 'depl_1').catch((error: unknown) => error);
        expect(failure).toMatchObject({ status: 502, retry: false });
        expect(String(failure)).not.toContain(SECRET);
      }
    },
  );

  it(
    verifies('deployments.notification.test-outcome', 'needs a webhook, and a Schedule of yours'),
    async () => {
      const { notifier, schedules } = setUp();
      schedules.set('depl_2', { name: 'Silent', webhook: undefined });
      await expect(notifier.test('org_1', 'depl_2')).rejects.toMatchObject({
        status: 409,
        retry: false,
      });
      await expect(notifier.test('org_1', 'depl_3')).rejects.toMatchObject({ status: 404 });
      await expect(notifier.test('org_2', 'depl_1')).rejects.toMatchObject({ status: 404 });
      expect(receiver.received).toEqual([]);
    },
  );
});
