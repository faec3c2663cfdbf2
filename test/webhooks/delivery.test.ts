import { describe, expect, it, onTestFinished } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { createSealer } from '../../src/core/seal.ts';
import type { JobResult } from '../../src/jobs/jobs.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { createUrlGuard } from '../../src/upstream/guard/url-guard.ts';
import { createDeliveryJob } from '../../src/webhooks/deliver.ts';
import { deliveriesOf, deliveryKey, KEPT_ATTEMPTS, urlPlace } from '../../src/webhooks/delivery.ts';
import type { Delivery, DeliveryAttempt } from '../../src/webhooks/delivery.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

const KEY = deliveryKey('org_1', 'msg_1');
const attemptsOf = (count: number): DeliveryAttempt[] =>
  Array.from({ length: count }, (_, at) => ({ at, status: 500, outcome: 'status', ms: 1 }));

/** The job of one delivery, whose URL is refused unless a receiver is there. */
function setUp({ url = 'http://127.0.0.1/x', allow = [] as string[], body = '{}' } = {}) {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const guard = createUrlGuard({ allow });
  onTestFinished(async () => {
    await guard.close();
    await store.close();
  });
  const sealer = createSealer([Buffer.alloc(32, 7)]);
  const warnings: unknown[] = [];
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const keep = async (changes: Partial<Delivery> = {}): Promise<void> => {
    const value: Delivery = {
      id: 'msg_1',
      organization: 'org_1',
      type: 'run.failed',
      subject: 'run_1',
      sealedUrl: sealer.seal(url, urlPlace('msg_1')),
      shownUrl: url,
      at: 0,
      status: 'pending',
      tries: 0,
      attempts: [],
      ...changes,
    };
    await store.commit([{ type: 'put', key: KEY, value }]);
  };
  const goWith = (
    random: number,
    render = async (): Promise<string | undefined> => body,
  ): Promise<JobResult> => {
    const job = createDeliveryJob({
      store,
      clock,
      sealer,
      guard,
      log: { warn: (...all: unknown[]) => void warnings.push(all) } as unknown as Log,
      secrets: {
        current: async () => [secret],
        rotate: async () => {
          throw new Error('not rotated here');
        },
      },
      random: () => random,
      keepMs: 1_000,
      render,
    });
    return job({
      job: { kind: 'webhook', id: 'msg_1', payload: { organization: 'org_1' } },
      attempt: 1,
      failures: 0,
      signal: new AbortController().signal,
    });
  };
  const read = () => store.get<Delivery>(KEY);
  const versionOf = async () => (await read())?.version;
  return { clock, store, warnings, keep, goWith, read, versionOf };
}

describe('a try to deliver a message', () => {
  it.each([
    [0, 5_000],
    [1, 30_000],
    [2, 120_000],
    [3, 600_000],
    [4, 3_600_000],
  ])('that failed is followed by another: after %d before it in %d ms', async (tries, pause) => {
    for (const random of [0, 0.5]) {
      const { keep, goWith, read, warnings } = setUp();
      await keep({ tries });
      expect(await goWith(random)).toEqual({ againInMs: pause * (1 + 0.25 * random) });
      expect((await read())?.value).toMatchObject({
        status: 'pending',
        tries: tries + 1,
        attempts: [{ status: null, outcome: 'refused' }],
      });
      expect(warnings).toEqual([]);
    }
  });

  it('that failed for the sixth time is the last, with a warning', async () => {
    const { keep, goWith, read, warnings, versionOf } = setUp();
    await keep({ tries: 5 });
    const result = await goWith(0);
    expect((await read())?.value).toMatchObject({ status: 'failed', tries: 6 });
    expect(result).toEqual({
      doneIf: [{ type: 'check', key: KEY, ifVersion: await versionOf() }],
    });
    const facts = { id: 'msg_1', subject: 'run_1', outcome: 'refused', attempts: 6 };
    expect(warnings).toEqual([['a webhook was not delivered', facts]]);
  });

  it('is the last where it was taken', async () => {
    const receiver = await startWebhookReceiver();
    onTestFinished(() => receiver.close());
    const { keep, goWith, read, versionOf } = setUp({
      url: `${receiver.url}/x`,
      allow: [receiver.host],
      body: '{"a":1}',
    });
    await keep({ tries: 2, attempts: attemptsOf(2) });
    const result = await goWith(0);
    expect((await read())?.value).toMatchObject({
      status: 'delivered',
      tries: 3,
      attempts: [{}, {}, { status: 200, outcome: 'delivered' }],
    });
    expect(result).toEqual({
      doneIf: [{ type: 'check', key: KEY, ifVersion: await versionOf() }],
    });
    expect(receiver.received).toMatchObject([
      { text: '{"a":1}', headers: { 'webhook-id': 'msg_1' } },
    ]);
  });

  it('is none where the message is gone, or over already', async () => {
    const gone = setUp();
    expect(await gone.goWith(0)).toBe('done');
    for (const status of ['delivered', 'failed'] as const) {
      const { keep, goWith, read, versionOf } = setUp();
      await keep({ status });
      const check = { type: 'check', key: KEY, ifVersion: await versionOf() };
      expect(await goWith(0)).toEqual({ doneIf: [check] });
      expect((await read())?.value).toMatchObject({ status, tries: 0, attempts: [] });
    }
  });

  it('has nothing to send where what it tells of has expired', async () => {
    const { keep, goWith, read, clock, warnings } = setUp();
    await keep();
    expect(await goWith(0, async () => undefined)).toHaveProperty('doneIf');
    expect((await read())?.value).toMatchObject({
      status: 'failed',
      tries: 1,
      attempts: [{ at: clock.now(), status: null, outcome: 'expired', ms: 0 }],
    });
    expect(warnings).toEqual([]);
  });

  it('keeps the last twenty attempts', async () => {
    const { keep, goWith, read } = setUp();
    await keep({ attempts: attemptsOf(KEPT_ATTEMPTS) });
    await goWith(0);
    const attempts = (await read())?.value.attempts ?? [];
    expect([attempts.length, attempts[0]?.at]).toEqual([20, 1]);
    expect(attempts.at(-1)).toMatchObject({ outcome: 'refused' });
  });

  it('is kept for its time once it is over, and for good while it is not', async () => {
    for (const [tries, isKept] of [
      [0, true],
      [5, false],
    ] as const) {
      const { keep, goWith, read, clock } = setUp();
      await keep({ tries });
      await goWith(0);
      clock.advance(999);
      expect(await read()).toBeDefined();
      clock.advance(1);
      expect((await read()) !== undefined).toBe(isKept);
    }
  });

  it('fails where the delivery changed under way', async () => {
    const { keep, goWith, read } = setUp();
    await keep();
    const changed = goWith(0, async () => {
      await keep({ tries: 3 });
      return '{}';
    });
    await expect(changed).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the delivery changed under way',
    });
    expect((await read())?.value.tries).toBe(3);
  });
});

describe('the key of a delivery', () => {
  it('is below those of its organization, however long the id is', () => {
    expect(deliveryKey('org_1', 'msg_1')).toEqual([...deliveriesOf('org_1'), 'msg_1']);
    expect(deliveryKey('org_1', 'x'.repeat(64)).at(-1)).toBe('x'.repeat(64));
    expect(deliveryKey('org_1', 'x'.repeat(65)).at(-1)).toBe('x'.repeat(64));
  });
});
