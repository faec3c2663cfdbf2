import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLog } from '../../src/core/log.ts';
import { createSealer } from '../../src/core/seal.ts';
import type { JobResult } from '../../src/jobs/jobs.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createUrlGuard } from '../../src/upstream/guard/url-guard.ts';
import type { UrlGuard } from '../../src/upstream/guard/url-guard.ts';
import { operatorDeliveryKey } from '../../src/webhooks/delivery.ts';
import { signatureHeaders } from '../../src/webhooks/signature.ts';
import { createSigningSecrets } from '../../src/webhooks/signing-secrets.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import type { Webhooks } from '../../src/webhooks/webhooks.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

const ORGANIZATION = 'org_1';

describe('the delivery of a webhook', () => {
  let store: Store;
  let receiver: WebhookReceiver;
  let guard: UrlGuard;
  const clock = createFakeClock();
  const sealer = createSealer([Buffer.alloc(32, 7)]);
  let addresses: string[] = ['127.0.0.1'];

  beforeEach(async () => {
    receiver = await startWebhookReceiver();
    store = await openStore({ driver: 'memory', path: '', options: {} }, { clock });
    guard = createUrlGuard({ allow: [receiver.host], lookup: async () => addresses });
  });
  afterEach(async () => {
    await guard.close();
    await store.close();
    await receiver.close();
  });

  const open = (random: number, render = async (): Promise<string | undefined> => '{"a":1}') =>
    createWebhooks({
      store,
      clock,
      sealer,
      guard,
      log: createLog({ clock, level: 'silent', format: 'json', write: () => undefined }),
      secrets: createSigningSecrets({ store, clock, sealer }),
      random: () => random,
      keepMs: 1_000,
      render,
      jobs: { toAdd: () => [], toWake: async () => [] },
    });
  const send = async (webhooks: Webhooks, url: string, id = 'msg_1'): Promise<void> => {
    const event = { id, organization: ORGANIZATION, type: 'run.failed', subject: 'run_1', at: 0 };
    await store.commit(webhooks.toSend({ ...event, url }));
  };
  const go = (webhooks: Webhooks, id = 'msg_1'): Promise<JobResult> =>
    webhooks.handler({
      job: { kind: 'webhook', id, payload: { organization: ORGANIZATION } },
      attempt: 1,
      failures: 0,
      signal: new AbortController().signal,
    });

  it(
    verifies(
      'run.webhook.retry',
      'is tried six times in all, each pause longer than the one before, with jitter',
    ),
    async () => {
      receiver.answer(503);
      const pausesAt = async (random: number, id: string): Promise<number[]> => {
        const webhooks = open(random);
        await send(webhooks, `${receiver.url}/x`, id);
        const pauses: number[] = [];
        for (;;) {
          const result = await go(webhooks, id);
          if (typeof result !== 'object' || !('againInMs' in result)) break;
          pauses.push(result.againInMs);
        }
        expect(await webhooks.find(ORGANIZATION, id)).toMatchObject({ status: 'failed', tries: 6 });
        return pauses;
      };
      const soonest = await pausesAt(0, 'msg_a');
      const latest = await pausesAt(0.999, 'msg_b');
      expect(soonest).toHaveLength(5);
      expect([...soonest].sort((a, b) => a - b)).toEqual(soonest);
      expect(new Set(soonest).size).toBe(5);
      latest.forEach((pause, index) => expect(pause).toBeGreaterThan(soonest[index] ?? 0));
      expect(receiver.received).toHaveLength(12);
    },
  );

  it(
    verifies('run.webhook.retry', 'gives up an attempt without an answer after ten seconds'),
    async () => {
      receiver.answer('silence');
      const webhooks = open(0);
      await send(webhooks, `${receiver.url}/x`);
      const late = new AbortController();
      const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
      onTestFinished(() => timeout.mockRestore());
      const going = go(webhooks);
      await receiver.waitFor('/x');
      expect(timeout.mock.calls).toEqual([[10_000]]);
      late.abort();
      expect(await going).toHaveProperty('againInMs');
      const { attempts } = await webhooks.find(ORGANIZATION, 'msg_1');
      expect(attempts).toMatchObject([{ status: null, outcome: 'timeout' }]);
    },
  );

  it(
    verifies('run.webhook.ssrf', 'is refused when the name points into a private network by then'),
    async () => {
      const webhooks = open(0);
      addresses = ['93.184.216.34'];
      await webhooks.check('https://hooks.example/x');
      await send(webhooks, 'https://hooks.example/x');
      addresses = ['10.1.2.3'];
      expect(await go(webhooks)).toHaveProperty('againInMs');
      const { attempts } = await webhooks.find(ORGANIZATION, 'msg_1');
      expect(attempts).toMatchObject([{ status: null, outcome: 'refused' }]);
    },
  );

  it('is over when what it tells of is gone', async () => {
    const gone = open(0, async () => undefined);
    await send(gone, `${receiver.url}/x`);
    await go(gone);
    expect(await gone.find(ORGANIZATION, 'msg_1')).toMatchObject({ status: 'failed' });
    expect(receiver.received).toEqual([]);
  });

  it('reaches a target of the operator, whose log is none of the organization', async () => {
    const webhooks = open(0);
    const event = { id: 'msg_1', organization: ORGANIZATION, type: 'alert.budget', subject: 'a' };
    const url = `${receiver.url}/x`;
    await store.commit(webhooks.toSend({ ...event, at: 0, url, isOperators: true }));
    await webhooks.handler({
      job: {
        kind: 'webhook',
        id: 'msg_1',
        payload: { organization: ORGANIZATION, isOperators: true },
      },
      attempt: 1,
      failures: 0,
      signal: new AbortController().signal,
    });
    expect(receiver.received).toHaveLength(1);
    expect(await webhooks.list(ORGANIZATION, { limit: 10 })).toEqual([]);
    const kept = await store.get(operatorDeliveryKey(ORGANIZATION, 'msg_1'));
    expect(kept?.value).toMatchObject({ status: 'delivered' });
  });

  it('keeps neither URL nor secret readable in the store', async () => {
    const webhooks = open(0);
    const secrets = createSigningSecrets({ store, clock, sealer });
    const { secret } = await secrets.rotate(ORGANIZATION);
    await send(webhooks, `${receiver.url}/x?token=canary`);
    const rows = [
      ...(await store.list({ prefix: ['webhook-secret'] })),
      ...(await store.list({ prefix: ['webhook-delivery'] })),
    ];
    expect(rows).toHaveLength(2);
    const text = JSON.stringify(rows);
    expect(text).not.toContain('canary');
    expect(text).not.toContain(secret.slice(6));
  });
});

describe('the signature of a webhook', () => {
  it(
    verifies('run.webhook.signature', 'is that of Standard Webhooks, written by two hands'),
    () => {
      const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
      const at = Date.now();
      const message = { id: 'msg_1', at, body: '{"ü":1}' };
      const headers = signatureHeaders(message, [secret]);
      expect(new Webhook(secret).verify(message.body, headers)).toEqual({ ü: 1 });
      const own = createHmac('sha256', Buffer.alloc(32, 1))
        .update(`msg_1.${Math.floor(at / 1000)}.{"ü":1}`)
        .digest('base64');
      expect(headers['webhook-signature']).toBe(`v1,${own}`);
      expect(signatureHeaders(message, [secret, secret])['webhook-signature']).toBe(
        `v1,${own} v1,${own}`,
      );
    },
  );
});

describe('signing secrets', () => {
  it(
    verifies('run.webhook.signature', 'are two while one takes the place of the other'),
    async () => {
      const clock = createFakeClock();
      const store = await openStore({ driver: 'memory', path: '', options: {} }, { clock });
      const sealer = createSealer([Buffer.alloc(32, 7)]);
      const secrets = createSigningSecrets({ store, clock, sealer });
      const [unseen] = await secrets.current(ORGANIZATION);
      expect(unseen).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      const first = await secrets.rotate(ORGANIZATION);
      expect(await secrets.current(ORGANIZATION)).toEqual([first.secret, unseen]);
      const second = await secrets.rotate(ORGANIZATION);
      expect(await secrets.current(ORGANIZATION)).toEqual([second.secret, first.secret]);
      expect(second.formerUntil).toBeGreaterThan(clock.now());
      clock.step(25 * 3_600_000);
      expect(await secrets.current(ORGANIZATION)).toEqual([second.secret]);
      expect(await secrets.current('org_2')).not.toContain(second.secret);
      await store.close();
    },
  );
});
