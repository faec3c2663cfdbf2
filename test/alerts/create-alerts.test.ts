import { describe, expect, it, onTestFinished } from 'vitest';
import { alertBody, alertKey, messageId } from '../../src/alerts/alert.ts';
import type { Alert } from '../../src/alerts/alert.ts';
import { ALERT_CHAT_JOB, ALERT_MAIL_JOB, createAlerts } from '../../src/alerts/create-alerts.ts';
import type { AlertTargets } from '../../src/alerts/create-alerts.ts';
import type { Log } from '../../src/core/log.ts';
import type { Job, JobResult } from '../../src/jobs/jobs.ts';
import type { MailDelivery as Sent, MailTarget } from '../../src/alerts/send-mail.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import type { Delivery } from '../../src/webhooks/delivery.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const DAY = 24 * 3_600_000;
const ALERT: Alert = {
  id: 'budget/1',
  type: 'alert.budget',
  organization: 'org_1',
  at: Date.UTC(2026, 10, 21),
  text: 'Budget one: 80 % are spent',
  data: { budget: 'bud_1', percent: 80, model: null },
};
const MAIL = { name: 'ops', to: ['a@x.test', 'b@x.test', 'c@x.test'] } as unknown as MailTarget;
const TARGETS: AlertTargets = {
  webhooks: ['https://hooks.example/a'],
  chats: ['https://chat.example/b'],
  mails: [MAIL],
};
const NONE: AlertTargets = { webhooks: [], chats: [], mails: [] };

function setUp(targets = TARGETS, answers: Partial<Sent>[] = []) {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  onTestFinished(() => store.close());
  const jobs: Job[] = [];
  const events: unknown[] = [];
  const sent: unknown[] = [];
  const warnings: unknown[] = [];
  const answer = (): Sent => ({ isDelivered: true, isFinal: false, ...answers.shift() }) as Sent;
  const alerts = createAlerts({
    store,
    targets,
    jobs: {
      toAdd(job) {
        jobs.push(job);
        return [{ type: 'put', key: ['job', job.id], value: 1 }];
      },
    },
    webhooks: {
      toSend(event) {
        events.push(event);
        return [{ type: 'put', key: ['webhook', event.id], value: 1 }];
      },
    },
    sender: {
      async send(message) {
        sent.push(message);
        return answer();
      },
    },
    async sendMail(target, mail) {
      sent.push([target, mail]);
      return answer();
    },
    log: { warn: (...all: unknown[]) => void warnings.push(all) } as unknown as Log,
  });
  const { signal } = new AbortController();
  const tell = async (kind: string, attempt = 1): Promise<JobResult | undefined> => {
    const job = jobs.find((one) => one.kind === kind);
    return job && alerts.handlers.get(kind)?.({ job, attempt, failures: 0, signal });
  };
  return { clock, store, alerts, jobs, events, sent, warnings, signal, tell };
}

describe('raising an alert', () => {
  it('notes it in one commit with a message for each target', async () => {
    const { alerts, store, jobs, events } = setUp();
    await alerts.raise(ALERT);
    expect((await store.get(alertKey(ALERT.id)))?.value).toEqual(ALERT);
    expect(events).toEqual([
      {
        id: messageId(ALERT.id, 'https://hooks.example/a'),
        organization: 'org_1',
        type: 'alert.budget',
        subject: ALERT.id,
        at: ALERT.at,
        url: 'https://hooks.example/a',
        isOperators: true,
      },
    ]);
    expect(jobs.map(({ kind, id, holder }) => [kind, id, holder])).toEqual([
      [ALERT_CHAT_JOB, messageId(ALERT.id, 'https://chat.example/b'), 'org_1'],
      [ALERT_MAIL_JOB, messageId(ALERT.id, 'mail:ops'), 'org_1'],
    ]);
    expect(await store.list({ prefix: ['job'] })).toHaveLength(2);
    expect(await store.list({ prefix: ['webhook'] })).toHaveLength(1);
  });

  it('tells a target that is listed twice once', async () => {
    const twice = { ...TARGETS, webhooks: [...TARGETS.webhooks, ...TARGETS.webhooks] };
    const { alerts, store, jobs, events } = setUp({
      ...twice,
      chats: [...TARGETS.chats, 'https://chat.example/c', ...TARGETS.chats],
    });
    await alerts.raise(ALERT);
    expect(await store.get(alertKey(ALERT.id))).toBeDefined();
    expect(events).toHaveLength(1);
    expect(jobs.map(({ kind }) => kind)).toEqual([ALERT_CHAT_JOB, ALERT_CHAT_JOB, ALERT_MAIL_JOB]);
  });

  it('keeps no URL of a chat in a job', () => {
    const { alerts, jobs } = setUp();
    alerts.toRaise(ALERT);
    expect(JSON.stringify(jobs)).not.toContain('chat.example');
  });

  it('is done once for each id, also in commits of others', async () => {
    const { alerts, store, jobs } = setUp();
    await alerts.raise(ALERT);
    await alerts.raise({ ...ALERT, text: 'again' });
    expect(jobs).toHaveLength(2);
    expect(await store.commit(alerts.toRaise(ALERT))).toMatchObject({ ok: false });
    await alerts.raise({ ...ALERT, id: 'budget/2' });
    expect(jobs).toHaveLength(6);
  });

  it('is remembered for 400 days, or for good', async () => {
    const { alerts, store, clock } = setUp(NONE);
    await alerts.raise(ALERT);
    await alerts.raise({ ...ALERT, id: 'for good', isForGood: true });
    await alerts.raise({ ...ALERT, id: 'not for good', isForGood: false });
    const known = async () => (await store.list<Alert>({ prefix: ['alert'] })).length;
    clock.advance(400 * DAY - 1);
    expect(await known()).toBe(3);
    clock.advance(1);
    expect(await known()).toBe(1);
  });
});

describe('telling a target of an alert', () => {
  it('sends its text to a chat', async () => {
    const { alerts, sent, tell, signal } = setUp();
    await alerts.raise(ALERT);
    expect(await tell(ALERT_CHAT_JOB)).toBe('done');
    expect(sent).toEqual([{ webhook: 'https://chat.example/b', text: ALERT.text, signal }]);
  });

  it('sends its facts in a mail, whose subject is one short line', async () => {
    const { alerts, sent, tell } = setUp();
    const text = `two\nlines  ${'x'.repeat(200)}`;
    await alerts.raise({ ...ALERT, text });
    expect(await tell(ALERT_MAIL_JOB)).toBe('done');
    const subject = `two lines ${'x'.repeat(140)}`;
    const facts =
      'type: alert.budget\nat: 2026-11-21T00:00:00.000Z\nbudget: bud_1\npercent: 80\nmodel: \n';
    const id = messageId(ALERT.id, 'mail:ops');
    expect(sent).toEqual([[MAIL, { id, subject, text: `${text}\n\n${facts}` }]]);
    expect(subject).toHaveLength(150);
  });

  it.each([
    [1, 5_000],
    [2, 30_000],
    [3, 120_000],
    [4, 600_000],
    [5, 1_800_000],
  ])('is tried again where it failed: try %d, pause %d', async (attempt, againInMs) => {
    const { alerts, tell, warnings } = setUp(TARGETS, [{ isDelivered: false }]);
    await alerts.raise(ALERT);
    expect(await tell(ALERT_CHAT_JOB, attempt)).toEqual({ againInMs });
    expect(warnings).toEqual([]);
  });

  it.each([
    ['the sixth try', 6, false],
    ['a failure that is final', 1, true],
  ])('is given up with a warning: %s', async (_what, attempt, isFinal) => {
    const answer = { isDelivered: false, isFinal, reason: 'status 404' };
    const { alerts, tell, warnings } = setUp(TARGETS, [answer]);
    await alerts.raise(ALERT);
    expect(await tell(ALERT_CHAT_JOB, attempt)).toBe('done');
    expect(warnings).toEqual([
      [
        'a target was not told of an alert',
        { kind: ALERT_CHAT_JOB, alert: ALERT.id, reason: 'status 404' },
      ],
    ]);
  });

  it('sends a mail again to those of its receivers alone who were put off', async () => {
    const { alerts, jobs, sent, tell, warnings } = setUp(TARGETS, [
      { isDelivered: false, reason: '550', isRefused: true, left: ['b@x.test', 'c@x.test'] },
      { isDelivered: false, reason: 'no answer' },
      { isDelivered: false, reason: '450', left: ['c@x.test'] },
    ]);
    await alerts.raise(ALERT);
    const first = jobs.findIndex(({ kind }) => kind === ALERT_MAIL_JOB);
    const tellAgain = async (attempt: number): Promise<void> => {
      const result = await tell(ALERT_MAIL_JOB, attempt);
      const { payload } = result as { payload?: Job['payload'] };
      const [job] = jobs.slice(first);
      if (job && payload !== undefined) jobs[first] = { ...job, payload };
    };
    for (const attempt of [1, 2, 3, 4]) await tellAgain(attempt);
    expect(sent.map((one) => (one as [MailTarget])[0].to.map(([name]) => name).join(''))).toEqual([
      'abc',
      'bc',
      'bc',
      'c',
    ]);
    expect(JSON.stringify(jobs)).not.toContain('x.test');
    expect(warnings).toEqual([
      [
        'a target was not told of an alert',
        { kind: ALERT_MAIL_JOB, alert: ALERT.id, reason: '550' },
      ],
    ]);
  });

  it('ends where the alert is forgotten, or the target is taken out of the settings', async () => {
    const forgotten = setUp();
    forgotten.alerts.toRaise(ALERT);
    expect(await forgotten.tell(ALERT_CHAT_JOB)).toBe('done');
    expect(await forgotten.tell(ALERT_MAIL_JOB)).toBe('done');
    const { alerts, jobs } = setUp();
    await alerts.raise(ALERT);
    const other = setUp({ ...NONE, chats: ['https://chat.example/c'] });
    await other.alerts.raise(ALERT);
    other.jobs.splice(0, 1, ...jobs);
    expect(await other.tell(ALERT_CHAT_JOB)).toBe('done');
    expect(await other.tell(ALERT_MAIL_JOB)).toBe('done');
    expect([forgotten.sent, other.sent]).toEqual([[], []]);
  });
});

describe('the webhook of an alert', () => {
  const delivery = { type: 'alert.budget', subject: ALERT.id } as Delivery;

  it('tells its facts and its text', async () => {
    const { alerts, store } = setUp(NONE);
    await alerts.raise(ALERT);
    expect(JSON.parse((await alertBody(store, delivery)) ?? '')).toEqual({
      type: 'alert.budget',
      timestamp: '2026-11-21T00:00:00.000Z',
      data: { ...ALERT.data, text: ALERT.text },
    });
  });

  it('has nothing to tell where the alert is forgotten, and is none of another event', async () => {
    const { store } = setUp(NONE);
    expect(await alertBody(store, delivery)).toBeUndefined();
    for (const type of ['run.failed', 'alert', 'x.alert.budget'])
      expect(alertBody(store, { ...delivery, type })).toBeUndefined();
  });

  it('has an id of its own for each alert and target', () => {
    const id = messageId('a', 'b');
    expect(id).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(messageId('a', 'b')).toBe(id);
    const others = [messageId('a', 'c'), messageId('c', 'b'), messageId('ab', '')];
    expect(new Set([id, ...others]).size).toBe(4);
  });
});
