import { describe, expect, it, onTestFinished } from 'vitest';
import { createSealer } from '../../src/core/seal.ts';
import type { Job } from '../../src/jobs/jobs.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { UrlGuardError } from '../../src/upstream/guard/url-guard-error.ts';
import { deliveryKey, operatorDeliveryKey, urlPlace } from '../../src/webhooks/delivery.ts';
import type { Delivery } from '../../src/webhooks/delivery.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const EVENT = {
  id: 'msg_1',
  organization: 'org_1',
  type: 'run.failed',
  subject: 'run_1',
  at: 77,
  url: 'https://user:word@hooks.example:8443/a/b?token=canary#part',
};
const JOB: Job = {
  kind: 'webhook',
  id: 'msg_1',
  payload: { organization: 'org_1' },
  holder: 'org_1',
};

function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  onTestFinished(() => store.close());
  const sealer = createSealer([Buffer.alloc(32, 7)]);
  const added: Job[] = [];
  const woken: Job[] = [];
  const checked: string[] = [];
  const guard = {
    async check(url: string) {
      checked.push(url);
      if (url.includes('private')) throw new UrlGuardError('address', 'a private address');
      if (url.includes('broken')) throw new TypeError('a bug');
    },
  };
  const webhooks = createWebhooks({
    store,
    clock,
    sealer,
    guard,
    jobs: {
      toAdd(job: Job) {
        added.push(job);
        return [{ type: 'put', key: ['job', job.id], value: 1 }];
      },
      async toWake(job: Job) {
        woken.push(job);
        return [{ type: 'put', key: ['woken', job.id], value: 1 }];
      },
    },
  } as unknown as WebhooksOptions);
  const keep = async (changes: Partial<Delivery> = {}): Promise<void> => {
    const [op] = webhooks.toSend({ ...EVENT, ...changes });
    const value = op?.type === 'put' ? { ...(op.value as Delivery), ...changes } : undefined;
    const key = deliveryKey(EVENT.organization, changes.id ?? EVENT.id);
    await store.commit([{ type: 'put', key, value }]);
  };
  return { store, sealer, webhooks, added, woken, checked, keep };
}

describe('the URL of a webhook', () => {
  it('is checked by the guard', async () => {
    const { webhooks, checked } = setUp();
    await webhooks.check('https://hooks.example/');
    expect(checked).toEqual(['https://hooks.example/']);
    await expect(webhooks.check('https://private.example/')).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'webhook_url',
      message: '`webhook_url` may not be called: a private address',
    });
    await expect(webhooks.check('https://broken.example/')).rejects.toThrow(TypeError);
  });

  it('has 2,048 characters at most', async () => {
    const { webhooks, checked } = setUp();
    const url = 'https://hooks.example/'.padEnd(2_048, 'x');
    await webhooks.check(url);
    await expect(webhooks.check(`${url}x`)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'webhook_url',
      message: '`webhook_url` is longer than 2048 characters',
    });
    expect(checked).toHaveLength(1);
  });
});

describe('an event to send', () => {
  it('is kept with its job in one commit, once for each id', async () => {
    const { webhooks, store, added } = setUp();
    expect(await store.commit(webhooks.toSend(EVENT))).toMatchObject({ ok: true });
    expect(added).toEqual([JOB]);
    expect(await webhooks.find('org_1', 'msg_1')).toEqual({
      id: 'msg_1',
      organization: 'org_1',
      type: 'run.failed',
      subject: 'run_1',
      at: 77,
      sealedUrl: expect.any(String),
      shownUrl: 'https://hooks.example:8443/a/b?…',
      status: 'pending',
      tries: 0,
      attempts: [],
    });
    expect(await store.commit(webhooks.toSend(EVENT))).toEqual({
      ok: false,
      conflict: deliveryKey('org_1', 'msg_1'),
    });
  });

  it('shows a URL without a query as it is, and seals it for its own message', async () => {
    const { webhooks, store, sealer } = setUp();
    const url = 'https://hooks.example/a';
    await store.commit(webhooks.toSend({ ...EVENT, url }));
    const { shownUrl, sealedUrl } = await webhooks.find('org_1', 'msg_1');
    expect(shownUrl).toBe(url);
    expect(sealer.open(sealedUrl, urlPlace('msg_1'))).toBe(url);
    expect(() => sealer.open(sealedUrl, urlPlace('msg_2'))).toThrow();
  });
});

describe('an event to a target of the operator', () => {
  it('is kept apart from what its organization reads, and shows no path', async () => {
    const { webhooks, store, added } = setUp();
    const event = { ...EVENT, type: 'alert.budget', isOperators: true };
    expect(await store.commit(webhooks.toSend(event))).toMatchObject({ ok: true });
    expect(added).toEqual([{ ...JOB, payload: { organization: 'org_1', isOperators: true } }]);
    expect(await webhooks.list('org_1', { limit: 10 })).toEqual([]);
    for (const asked of [webhooks.find('org_1', 'msg_1'), webhooks.redeliver('org_1', 'msg_1')])
      await expect(asked).rejects.toMatchObject({ code: 'not_found' });
    const kept = await store.get<Delivery>(operatorDeliveryKey('org_1', 'msg_1'));
    expect(kept?.value.shownUrl).toBe('https://hooks.example:8443');
    expect(JSON.stringify(kept)).not.toContain('/a/b');
  });
});

describe('deliveries', () => {
  it('are found in their own organization alone', async () => {
    const { webhooks, keep } = setUp();
    await keep();
    for (const [organization, id] of [
      ['org_2', 'msg_1'],
      ['org_1', 'msg_2'],
      ['org_1', 'x'.repeat(100_000)],
    ] as const)
      await expect(webhooks.find(organization, id)).rejects.toMatchObject({
        code: 'not_found',
        message: 'delivery not found',
      });
  });

  it('are listed with the newest first, page by page', async () => {
    const { webhooks, keep } = setUp();
    for (const n of [1, 2, 3]) await keep({ id: `msg_${n}` });
    const idsOf = async (page: { after?: string; limit: number }): Promise<string[]> =>
      (await webhooks.list('org_1', page)).map(({ id }) => id);
    expect(await idsOf({ limit: 2 })).toEqual(['msg_3', 'msg_2']);
    expect(await idsOf({ limit: 2, after: 'msg_2' })).toEqual(['msg_1']);
    expect(await webhooks.list('org_2', { limit: 2 })).toEqual([]);
  });

  it('begin anew on request, with all of their attempts', async () => {
    const { webhooks, keep, store, woken } = setUp();
    const attempts = [{ at: 1, status: 500, outcome: 'status', ms: 2 }];
    await keep({ status: 'failed', tries: 6, attempts });
    const also = async (delivery: Delivery) => [
      { type: 'put' as const, key: ['noted', delivery.id], value: delivery.status },
    ];
    const begun = await webhooks.redeliver('org_1', 'msg_1', also);
    expect(begun).toMatchObject({ id: 'msg_1', status: 'pending', tries: 0, attempts });
    expect(await webhooks.find('org_1', 'msg_1')).toEqual(begun);
    expect(woken).toEqual([JOB]);
    expect((await store.get(['woken', 'msg_1']))?.value).toBe(1);
    expect((await store.get(['noted', 'msg_1']))?.value).toBe('pending');
  });

  it('do not begin anew while they are under way, or where they are not there', async () => {
    const { webhooks, keep, woken } = setUp();
    await keep();
    await expect(webhooks.redeliver('org_1', 'msg_1')).rejects.toMatchObject({
      code: 'conflict',
      type: 'delivery_pending',
      retry: false,
      message: 'the delivery msg_1 is under way',
    });
    await expect(webhooks.redeliver('org_1', 'msg_2')).rejects.toMatchObject({ code: 'not_found' });
    expect(woken).toEqual([]);
  });

  it('begin anew where others changed them meanwhile, five times at most', async () => {
    for (const [changes, isDone] of [
      [4, true],
      [5, false],
    ] as const) {
      const { webhooks, keep } = setUp();
      await keep({ status: 'failed' });
      let tries = 0;
      const also = async () => {
        if (++tries <= changes) await keep({ status: 'failed', tries });
        return [];
      };
      const begun = webhooks.redeliver('org_1', 'msg_1', also);
      if (isDone) expect(await begun).toMatchObject({ status: 'pending' });
      else
        await expect(begun).rejects.toMatchObject({
          code: 'conflict',
          message: 'others kept changing the delivery',
        });
      expect(tries).toBe(5);
    }
  });
});
