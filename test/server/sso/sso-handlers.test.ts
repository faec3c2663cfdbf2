import { ServerResponse } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/audit/audit-entry.ts';
import { ENTRIES } from '../../../src/audit/audit-rows.ts';
import { createKeyDirectory } from '../../../src/resources/kinds/key-directory.ts';
import type { Sso } from '../../../src/server/sso/open-sso.ts';
import { MAPPING_LABEL } from '../../../src/server/sso/roles.ts';
import { ssoHandlers, viewOf } from '../../../src/server/sso/sso-handlers.ts';
import type { SsoHandlersDeps } from '../../../src/server/sso/sso-handlers.ts';
import type { HttpExchange, Reply } from '../../../src/surfaces/http-exchange.ts';
import { makeResources } from '../../resources/make-resources.ts';
import type { Resources } from '../../resources/make-resources.ts';
import { bodySource } from '../../support/body-intake.ts';
import { RESOURCE_VALUES } from '../../support/value-bounds.ts';

const SETTINGS = { issuer: 'https://id.test', client_id: 'gateway', clientSecret: 'hidden' };
const GRANT = { device_code: 'd', user_code: 'u', verification_uri: 'https://id.test/device' };
const KEPT_NOWHERE = { 'cache-control': 'no-store' };

describe('the calls by which a program signs a person in', () => {
  let resources: Resources;
  let deps: SsoHandlersDeps;
  let callers: string[];
  let isRated: boolean;
  let claims: object | undefined;
  let codes: string[];
  let signIns: object[];
  let inFlight: number;
  let refresh: () => Promise<void>;

  beforeEach(() => {
    resources = makeResources();
    [callers, codes, signIns] = [[], [], []];
    isRated = false;
    inFlight = 0;
    claims = { sub: 's1' };
    const keys = createKeyDirectory(resources);
    refresh = () => keys.update('everything');
    const sso = {
      settings: SETTINGS,
      provider: {
        startDevice: async () => GRANT,
        async pollDevice(code: string) {
          codes.push(code);
          return claims;
        },
      },
      async signIn(told: object, { by, organization, exchange }: Record<string, unknown>) {
        signIns.push({ told, by, organization, id: (exchange as HttpExchange).id });
        return {
          id: 'key_1',
          name: 'ada 1',
          value: 'sk-1',
          person: { name: 'ada' },
          mapping: { organization: 'home', role: 'viewer' },
          expiresAt: '2026-11-21T02:00:00.000Z',
        };
      },
    } as unknown as Sso;
    deps = {
      sso,
      repository: resources.repository,
      resourceValues: RESOURCE_VALUES,
      lookup: (key) => keys.lookup(key),
      rates: {
        isPlatformFull: () => false,
        admitPlatform: (caller) => callers.push(caller) > 0 && !isRated,
        admitKey: () => true,
      },
      concurrency: { enter: () => (inFlight++, () => void inFlight--) },
    };
  });

  type Name = keyof ReturnType<typeof ssoHandlers>;
  interface Sent {
    readonly body?: object;
    readonly headers?: IncomingHttpHeaders;
    readonly changes?: Partial<SsoHandlersDeps>;
  }
  async function call(name: Name, { body = {}, headers = {}, changes }: Sent = {}): Promise<Reply> {
    const bytes = Buffer.from(JSON.stringify(body));
    const request = Readable.from([bytes]) as unknown as IncomingMessage;
    const all = { 'content-length': String(bytes.length), ...headers };
    Object.assign(request, { method: 'POST', rawHeaders: [], headers: all, socket: {} });
    const response = new ServerResponse(request);
    const exchange = { ...bodySource(request, response), response, id: 'req_1', search: '' };
    const handlers = ssoHandlers({ ...deps, ...changes });
    return await handlers[name](exchange as HttpExchange);
  }

  it('tell which provider there is, without its secret, and null where there is none', async () => {
    const view = { type: 'sso', issuer: 'https://id.test', client_id: 'gateway' };
    expect(await call('tellSso')).toEqual({ status: 200, body: view });
    const none = { type: 'sso', issuer: null, client_id: null };
    expect(await call('tellSso', { changes: { sso: undefined } })).toEqual({
      status: 200,
      body: none,
    });
    expect(viewOf(undefined)).toEqual(none);
    expect(callers).toEqual(['refused', 'refused']);
  });

  it('begin with a grant for a device, which nobody keeps', async () => {
    expect(await call('startDevice')).toEqual({
      status: 201,
      headers: KEPT_NOWHERE,
      body: { type: 'sso_device', ...GRANT },
    });
  });

  it('wait for the person', async () => {
    claims = undefined;
    expect(await call('takeKey', { body: { device_code: 'd' } })).toEqual({
      status: 202,
      headers: KEPT_NOWHERE,
      body: { type: 'sso_pending' },
    });
    expect(signIns).toEqual([]);
  });

  it('end with the key of the person, shown this once', async () => {
    const body = { device_code: 'd', organization: 'home' };
    expect(await call('takeKey', { body })).toEqual({
      status: 201,
      headers: KEPT_NOWHERE,
      body: {
        type: 'sso_key',
        id: 'key_1',
        name: 'ada 1',
        value: 'sk-1',
        person: 'ada',
        organization: 'home',
        role: 'viewer',
        expires_at: '2026-11-21T02:00:00.000Z',
      },
    });
    expect(codes).toEqual(['d']);
    expect(signIns).toEqual([
      { told: { sub: 's1' }, by: 'sso_device', organization: 'home', id: 'req_1' },
    ]);
  });

  it('need no organization', async () => {
    await call('takeKey', { body: { device_code: 'd' } });
    expect(signIns).toMatchObject([{ organization: undefined }]);
  });

  it('take device codes of 4,096 characters', async () => {
    await call('takeKey', { body: { device_code: 'd'.repeat(4_096) } });
    expect(codes).toEqual(['d'.repeat(4_096)]);
  });

  it.each([
    [{}, 'device_code'],
    [{ device_code: '' }, 'device_code'],
    [{ device_code: 7 }, 'device_code'],
    [{ device_code: 'd'.repeat(4_097) }, 'device_code'],
    [{ device_code: 'd', organization: 7 }, 'organization'],
    [{ device_code: 'd', organization: null }, 'organization'],
  ])('do not take %o', async (body, param) => {
    await expect(call('takeKey', { body })).rejects.toMatchObject({
      code: 'invalid_request',
      param,
      message: expect.stringMatching(`^${param}: expected `),
    });
    expect(codes).toEqual([]);
  });

  it('take bodies of 16 KiB', async () => {
    const padded = (size: number) => ({
      device_code: 'd',
      more: 'a'.repeat(size - JSON.stringify({ device_code: 'd', more: '' }).length),
    });
    expect(await call('takeKey', { body: padded(16_384) })).toMatchObject({ status: 201 });
    await expect(call('takeKey', { body: padded(16_385) })).rejects.toMatchObject({
      code: 'body_too_large',
    });
  });

  it.each<Name>(['startDevice', 'takeKey'])(
    'find nothing to %s by without a provider',
    async (name) => {
      await expect(call(name, { changes: { sso: undefined } })).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining('no single sign-on'),
      });
      expect(callers).toEqual(['refused']);
    },
  );

  it.each<Name>(['tellSso', 'startDevice', 'takeKey'])(
    'turn %s away while too many guess',
    async (name) => {
      isRated = true;
      await expect(call(name, { body: { device_code: 'd' } })).rejects.toMatchObject({
        code: 'global_rate_limited',
      });
      expect(codes).toEqual([]);
    },
  );

  describe('when a person is done', () => {
    const make = async (labels?: object) => {
      const named = await resources.call('GET organizations/home');
      if (named.status === 404)
        await resources.call('POST organizations', { body: { name: 'home' } });
      const body = { name: 'ada', organization: 'home', concurrency_cap: 5, labels };
      const made = (await resources.call('POST keys', { body })).body;
      await refresh();
      return { id: made['id'], headers: { authorization: `Bearer ${made['value']}` } };
    };
    const isEnabled = async (id: string): Promise<boolean> =>
      (await resources.call(`GET keys/${id}`)).body['enabled'];

    it('revoke the key that a sign-in made, by the key itself', async () => {
      const { id, headers } = await make({ [MAPPING_LABEL]: 'mark' });
      expect(await call('endKey', { headers })).toEqual({ status: 204 });
      expect(await isEnabled(id)).toBe(false);
      expect(inFlight).toBe(0);
      const entries = await resources.store.list<AuditEntry>({ prefix: ENTRIES, limit: 100 });
      expect(entries.map(({ value }) => value).at(-1)).toMatchObject({
        action: 'revoke',
        actor: { kind: 'key', id, name: 'ada' },
        object: { id },
        request_id: 'req_1',
      });
    });

    it.each([undefined, { 'gateway/other': 'a' }])(
      'leave a key with the labels %j, which no sign-in made',
      async (labels) => {
        const { id, headers } = await make(labels);
        await expect(call('endKey', { headers })).rejects.toMatchObject({
          code: 'conflict',
          retry: false,
        });
        expect(await isEnabled(id)).toBe(true);
        expect(inFlight).toBe(0);
      },
    );

    it('revoke nothing without a key, or by one that is over', async () => {
      await expect(call('endKey')).rejects.toMatchObject({ code: 'missing_api_key' });
      const { headers } = await make({ [MAPPING_LABEL]: 'mark' });
      await call('endKey', { headers });
      await refresh();
      await expect(call('endKey', { headers })).rejects.toMatchObject({ code: 'api_key_revoked' });
    });

    it('need no provider any more', async () => {
      const { id, headers } = await make({ [MAPPING_LABEL]: 'mark' });
      await call('endKey', { headers, changes: { sso: undefined } });
      expect(await isEnabled(id)).toBe(false);
    });
  });
});
