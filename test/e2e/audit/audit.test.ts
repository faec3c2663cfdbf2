import { afterEach, describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../src/store/store.ts';
import type { Op } from '../../../src/store/store.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const SECRET = 'sk-provider-0123456789abcdef';
const CONFIG = {
  version: 1,
  namespace: 'team',
  server: { log: { content: true } },
  organizations: [{ name: 'default' }],
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'mock/echo', routes: [{ provider: 'mock', upstream_model: 'echo' }] }],
};

interface Entry {
  id: string;
  action: string;
  actor: { kind: string; id: string | null; name: string };
  from: { address: string | null; client: string | null };
  object: { kind: string; id: string; name: string | null };
  changes: { path: string; old: unknown; new: unknown }[];
  request_id: string | null;
  [member: string]: unknown;
}

let gateway: TestGateway;
afterEach(() => gateway?.stop());

const entriesOf = async (query = ''): Promise<Entry[]> =>
  (await gateway.admin('GET', `/admin/v1/audit?limit=1000${query}`)).body.data;

/** Makes a change and gives the one entry that it left. */
async function entryOf(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ entry: Entry; answer: { status: number; body: Record<string, unknown> } }> {
  const answer = await gateway.admin(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  const found = await entriesOf(`&request=${answer.headers.get('x-request-id')}`);
  expect(found).toHaveLength(1);
  return { entry: found[0] as Entry, answer };
}

describe('the audit log', () => {
  it('has one entry for each change by API and file and each read of kept content, with who, from where, old and new, and no secret', async () => {
    gateway = await startGateway(CONFIG);
    const file = (await entriesOf('&kind=model'))[0] as Entry;
    expect(file).toMatchObject({ action: 'create', actor: { kind: 'file' }, request_id: null });
    expect(file.actor.name).toMatch(/gateway\.yaml$/);
    const made = await entryOf('POST', '/admin/v1/keys', { name: 'ci', rpm_cap: 60 });
    const id = String(made.answer.body['id']);
    expect(made.entry).toMatchObject({
      type: 'audit_entry',
      action: 'create',
      actor: { kind: 'key', name: 'admin' },
      object: { kind: 'api_key', id, name: 'ci' },
    });
    expect(made.entry.from.address).toMatch(/127\.0\.0\.1/);
    expect(made.entry.from.client).not.toBeNull();
    expect(made.entry.changes).toContainEqual({ path: 'rpm_cap', old: null, new: 60 });
    const updated = await entryOf('PATCH', `/admin/v1/keys/${id}`, { rpm_cap: 90 });
    expect(updated.entry.changes).toEqual([{ path: 'rpm_cap', old: 60, new: 90 }]);
    expect((await entryOf('POST', `/admin/v1/keys/${id}/rotate`, {})).entry.action).toBe('rotate');
    expect((await entryOf('POST', `/admin/v1/keys/${id}/revoke`)).entry.action).toBe('revoke');
    const provider = { name: 'acme', type: 'openai', api_key: SECRET };
    const account = await entryOf('POST', '/admin/v1/providers', provider);
    const changed = await entryOf('PATCH', `/admin/v1/providers/acme`, { api_key: `${SECRET}2` });
    expect(changed.entry.changes).toContainEqual({
      path: 'api_key',
      old: '[secret]',
      new: '[secret]',
    });
    expect(account.entry.object.name).toBe('acme');
    const session = await entryOf('POST', '/admin/v1/agents', { name: 'a', model: 'mock/echo' });
    const agent = session.answer.body['id'];
    const begun = await entryOf('POST', '/v1/sessions', { agent, title: 'first' });
    const path = `/v1/sessions/${String(begun.answer.body['id'])}`;
    expect(begun.entry.object).toMatchObject({ kind: 'session', name: 'first' });
    const renamed = await entryOf('PATCH', path, { title: 'second' });
    expect(renamed.entry.changes).toEqual([{ path: 'title', old: 'first', new: 'second' }]);
    expect((await entryOf('POST', `${path}/archive`)).entry.action).toBe('archive');
    expect((await entryOf('DELETE', path)).entry.action).toBe('delete');
    const rotated = await entryOf('POST', '/v1/webhooks/secret/rotate');
    expect(rotated.entry.object.kind).toBe('webhook_secret');
    const chat = await gateway.chat('mock/echo');
    const request = chat.headers.get('x-request-id');
    await vi.waitFor(async () => {
      const { body } = await gateway.admin('GET', `/admin/v1/requests/${request}`);
      expect(body.content).toBeDefined();
    });
    const read = await entryOf('GET', `/admin/v1/requests/${request}`);
    expect(read.entry).toMatchObject({
      action: 'read',
      object: { kind: 'request', id: request },
    });
    const all = await entriesOf();
    const text = JSON.stringify(all);
    for (const secret of [SECRET, made.answer.body['value'], rotated.answer.body['secret']])
      expect(text).not.toContain(String(secret));
    expect((await gateway.admin('GET', '/admin/v1/audit/verify')).body).toMatchObject({
      valid: true,
      entries: all.length,
    });
    const one = await gateway.admin('GET', `/admin/v1/audit/${made.entry.id}`);
    expect(one.body).toEqual(made.entry);
  });

  it('has no entry for what changed nothing or was refused, and none without its change', async () => {
    let failing: ((ops: readonly Op[]) => boolean) | undefined;
    gateway = await startGateway(CONFIG, {
      openStore: async (config, deps) => {
        const store = await openStore(config, deps);
        const commit = async (ops: readonly Op[]) => {
          if (failing?.(ops)) throw new StoreError('full', 'the disk is full');
          return store.commit(ops);
        };
        return { ...store, commit };
      },
    });
    const before = (await entriesOf()).length;
    await gateway.admin('POST', '/admin/v1/keys', { name: '' });
    await gateway.admin('PATCH', '/admin/v1/models/mock%2Fecho', { enabled: true });
    failing = (ops) => ops.some(({ key: [room] }) => room === 'audit');
    expect((await gateway.admin('POST', '/admin/v1/keys', { name: 'x' })).status).toBe(503);
    failing = undefined;
    expect(await entriesOf()).toHaveLength(before);
    expect((await gateway.admin('GET', '/admin/v1/keys/x')).status).toBe(404);
  });

  it('is for administrators alone, and nobody can write to it', async () => {
    gateway = await startGateway(CONFIG);
    for (const path of ['/admin/v1/audit', '/admin/v1/audit/verify']) {
      expect((await gateway.call('GET', path)).status).toBe(403);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
        expect((await gateway.admin(method, path)).status).toBe(405);
    }
  });

  it('is filtered by actor, action, object, time and page', async () => {
    gateway = await startGateway(CONFIG);
    for (const name of ['k1', 'k2', 'k3']) await gateway.admin('POST', '/admin/v1/keys', { name });
    const names = async (query: string) =>
      (await entriesOf(query)).map(({ object }) => object.name);
    expect(await names('&actor=admin')).toEqual(['k3', 'k2', 'k1']);
    expect(await names('&kind=api_key&object=k2')).toEqual(['k2']);
    expect(await names('&action=delete')).toEqual([]);
    expect(await names('&actor=admin&to=2020-01-01')).toEqual([]);
    const first = await gateway.admin('GET', '/admin/v1/audit?actor=admin&limit=2');
    expect(first.body.data).toHaveLength(2);
    const { body } = await gateway.admin(
      'GET',
      `/admin/v1/audit?actor=admin&limit=2&page=${first.body.next_page}`,
    );
    expect(body.data.map(({ object }: Entry) => object.name)).toEqual(['k1']);
    expect(body.next_page).toBeNull();
    expect((await gateway.admin('GET', '/admin/v1/audit?page=x')).status).toBe(400);
  });
});
