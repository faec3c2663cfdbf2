import { describe, expect, it } from 'vitest';
import { listAudit } from '../../../src/audit/read-audit.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import { createSealer } from '../../../src/core/seal.ts';
import { webhookHandlers } from '../../../src/server/routes/webhook-handlers.ts';
import type { Op } from '../../../src/store/store.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import { createSigningSecrets } from '../../../src/webhooks/signing-secrets.ts';
import type { Delivery } from '../../../src/webhooks/delivery.ts';
import type { DeliveryPage } from '../../../src/webhooks/webhooks.ts';
import { makeResources, MASTER_KEY } from '../../resources/make-resources.ts';
import { DAY } from '../../usage/usage-fixtures.ts';
import { answerOf, keyring, namedCall } from './handler-calls.ts';
import type { CallOptions } from './handler-calls.ts';

const AT = Date.UTC(2026, 10, 21);

const delivery = (id: string): Delivery => ({
  id,
  organization: 'org_1',
  type: 'run.failed',
  subject: 'run_1',
  sealedUrl: 'sealed',
  shownUrl: 'https://hooks.test/a?…',
  at: AT,
  status: 'failed',
  tries: 2,
  attempts: [{ at: AT + 1_000, status: 503, outcome: 'status', ms: 12 }],
});

const VIEW = {
  id: 'msg_1',
  type: 'webhook_delivery',
  event: 'run.failed',
  subject: 'run_1',
  url: 'https://hooks.test/a?…',
  status: 'failed',
  attempts: [{ at: '2026-11-21T00:00:01.000Z', status: 503, outcome: 'status', ms: 12 }],
  created_at: '2026-11-21T00:00:00.000Z',
};

/** Handlers over this many deliveries of `org_1`, the newest first: `msg_5`, `msg_4` … */
function setUp({ count = 0, of = {} }: { count?: number; of?: Partial<Principal> } = {}) {
  const { repository, store, clock } = makeResources();
  const secrets = createSigningSecrets({ store, sealer: createSealer([MASTER_KEY]), clock });
  const all = Array.from({ length: count }, (_, index) => delivery(`msg_${count - index}`));
  const pages: DeliveryPage[] = [];
  const written: Op[] = [];
  const find = async (organization: string, id: string): Promise<Delivery> => {
    const found = organization === 'org_1' && all.find((one) => one.id === id);
    if (found) return found;
    throw new GatewayError('not_found', { message: 'delivery not found' });
  };
  const keys = keyring(of);
  const handlers = webhookHandlers({
    ...keys,
    repository,
    secrets,
    webhooks: {
      find,
      async list(organization, page) {
        pages.push(page);
        const from = all.findIndex(({ id }) => id === page.after) + 1;
        return organization === 'org_1' ? all.slice(from, from + page.limit) : [];
      },
      async redeliver(organization, id, also) {
        const next: Delivery = { ...(await find(organization, id)), status: 'pending', tries: 0 };
        written.push(...((await also?.(next)) ?? []));
        return next;
      },
    },
  });
  const ask = (name: keyof typeof handlers, options: CallOptions = {}) =>
    answerOf(handlers[name], options);
  return { ask, pages, written, secrets, store, clock, inside: keys.inside };
}

const below = (id: string, rest = '') => `/v1/webhooks/deliveries/${id}${rest}`;

describe('the rotation of the signing secret', () => {
  it('shows the new secret once, and how long the former one signs', async () => {
    const { ask, secrets, clock } = setUp();
    const first = await ask('rotate', { method: 'POST', body: {} });
    expect(first).toEqual({
      status: 200,
      headers: { 'cache-control': 'no-store' },
      body: {
        type: 'webhook_secret',
        secret: (await secrets.current('org_1'))[0],
        created_at: '2026-11-21T00:00:00.000Z',
        previous_valid_until: null,
      },
    });
    clock.advance(DAY);
    const second = await ask('rotate', { method: 'POST' });
    expect(second.body).toMatchObject({
      created_at: '2026-11-22T00:00:00.000Z',
      previous_valid_until: '2026-11-23T00:00:00.000Z',
    });
    expect(await secrets.current('org_1')).toHaveLength(2);
  });

  it('is noted without the secret', async () => {
    const { ask, store } = setUp();
    const { body } = await ask('rotate', { method: 'POST' });
    const { data } = await listAudit(store, { kind: 'webhook_secret' });
    expect(data).toMatchObject([
      {
        action: 'rotate',
        actor: { kind: 'key', id: 'key_1' },
        object: { kind: 'webhook_secret', id: 'org_1', name: null },
        organization: 'org_1',
        request_id: 'req_1',
      },
    ]);
    const [change] = data[0]?.changes ?? [];
    expect(change).toMatchObject({ path: 'secret', old: change?.new });
    const { secret } = body as { secret: string };
    expect(JSON.stringify(data)).not.toContain(secret.slice(-20));
  });
});

describe('the list of deliveries', () => {
  const page = async (count: number, search: string) => {
    const { ask, pages } = setUp({ count });
    const { status, body } = await ask('list', { search });
    const { data, next_page: next } = body as { data: { id: string }[]; next_page: string | null };
    expect(status).toBe(200);
    return { ids: data.map(({ id }) => id), data, next, asked: pages[0] };
  };

  it('shows each as its organization sees it', async () => {
    const { data, next } = await page(1, '');
    expect(data).toEqual([VIEW]);
    expect(next).toBeNull();
  });

  it.each([
    ['', 20],
    ['?limit=1', 1],
    ['?limit=100', 100],
    ['?limit=101', 100],
  ])('asks for one more than a page has: %s', async (search, limit) => {
    const { asked } = await page(0, search);
    expect(asked).toEqual({ after: undefined, limit: limit + 1 });
  });

  it('goes on behind the last one that it showed', async () => {
    const first = await page(5, '?limit=2');
    expect(first.ids).toEqual(['msg_5', 'msg_4']);
    const second = await page(5, `?limit=3&page=${first.next}`);
    expect(second.ids).toEqual(['msg_3', 'msg_2', 'msg_1']);
    expect(second.next).toBeNull();
  });

  it('takes no cursor of another list', async () => {
    const { next } = await page(5, '?limit=2');
    const other = setUp({ of: { organizationId: 'org_2' } });
    const refusal = { code: 'invalid_request', param: 'page' };
    await expect(other.ask('list', { search: `?page=${next}` })).rejects.toMatchObject(refusal);
  });

  it.each([
    ['of another kind', 'abc'],
    ['longer than any id', `msg_${'x'.repeat(4_000)}`],
  ])('has no place %s', async (_, place) => {
    const { next } = await page(5, '?limit=2');
    const [mark] = Buffer.from(String(next), 'base64url').toString().split('.');
    const forged = Buffer.from(`${mark}.${place}`).toString('base64url');
    const refusal = { code: 'invalid_request', param: 'page' };
    await expect(page(5, `?page=${forged}`)).rejects.toMatchObject(refusal);
  });
});

describe('a delivery', () => {
  it('is shown by its id to its own organization', async () => {
    const { ask, inside } = setUp({ count: 1 });
    expect(await ask('get', { path: below('msg_1') })).toEqual({ status: 200, body: VIEW });
    for (const id of ['msg_2', '', '%ff'])
      await expect(ask('get', { path: below(id) })).rejects.toMatchObject({ code: 'not_found' });
    expect(inside.now).toBe(0);
    const other = setUp({ count: 1, of: { organizationId: 'org_2' } });
    await expect(other.ask('get', { path: below('msg_1') })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is begun anew, and the answer is kept with it for a call that has a name', async () => {
    const { ask, written } = setUp({ count: 1 });
    const { named, kept } = namedCall();
    const path = below('msg_1', '/redeliver');
    const answer = { status: 202, body: { ...VIEW, status: 'pending' } };
    expect(await ask('redeliver', { method: 'POST', path, body: {}, named })).toEqual(answer);
    expect(kept).toEqual([answer]);
    expect(written).toHaveLength(1);
    expect(await ask('redeliver', { method: 'POST', path })).toEqual(answer);
    expect(written).toHaveLength(1);
  });

  it.each(['rotate', 'redeliver'] as const)('takes no input: %s', async (name) => {
    const { ask, inside } = setUp({ count: 1 });
    const options = { method: 'POST', path: below('msg_1', '/redeliver') };
    await expect(ask(name, { ...options, body: { url: 'x', b: 1 } })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'url',
      message: 'url: expected an empty body or {}',
    });
    await expect(ask(name, { ...options, body: '{' })).rejects.toMatchObject({
      code: 'invalid_json',
    });
    const long = { ...options, body: ' '.repeat(10_001) };
    await expect(ask(name, long)).rejects.toMatchObject({ code: 'body_too_large' });
    expect(inside.now).toBe(0);
  });
});

describe('webhooks', () => {
  const NAMES = ['rotate', 'list', 'get', 'redeliver'] as const;
  const allowed = async (of: Partial<Principal>) => {
    const open: string[] = [];
    for (const name of NAMES) {
      const { ask } = setUp({ count: 1, of });
      const code = await ask(name, { path: below('msg_1') }).then(
        () => 'ok',
        (error: { code: string }) => error.code,
      );
      expect(['ok', 'insufficient_scope']).toContain(code);
      if (code === 'ok') open.push(name);
    }
    return open;
  };

  it.each<[Partial<Principal>, readonly string[]]>([
    [{}, NAMES],
    [{ scopes: new Set(['credentials']) }, ['rotate']],
    [{ scopes: new Set(['run']) }, ['list', 'get', 'redeliver']],
    [{ role: 'operator' }, NAMES],
    [{ role: 'viewer' }, ['list', 'get']],
    [{ role: 'billing' }, []],
  ])('are open to what a key may do: %o', async (of, open) => {
    expect(await allowed(of)).toEqual(open);
  });
});
