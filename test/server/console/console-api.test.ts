import { ServerResponse } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/audit/audit-entry.ts';
import { ENTRIES } from '../../../src/audit/audit-rows.ts';
import { createKeyDirectory } from '../../../src/resources/kinds/key-directory.ts';
import { createKeyLookup, createValueLookup } from '../../../src/server/compose/key-lookup.ts';
import {
  actingSession,
  createSessionHandler,
  CSRF_HEADER,
  readCookie,
  SESSION_HEADER,
  writeCookie,
} from '../../../src/server/console/console-api.ts';
import type {
  ConsoleApiDeps,
  ConsoleSessionView,
} from '../../../src/server/console/console-api.ts';
import {
  createConsoleSessions,
  csrfOf,
  sessionIdOf,
} from '../../../src/server/console/console-sessions.ts';
import { createKeyTickets } from '../../../src/server/console/key-tickets.ts';
import { createSignInAudit } from '../../../src/server/console/sign-in-audit.ts';
import type { HttpExchange, Reply } from '../../../src/surfaces/http-exchange.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import { makeResources } from '../../resources/make-resources.ts';
import type { Resources } from '../../resources/make-resources.ts';
import { bodySource } from '../../support/body-intake.ts';
import { RESOURCE_VALUES } from '../../support/value-bounds.ts';
import { principal } from '../../usage/usage-fixtures.ts';

const SECRET = 's'.repeat(43);
const SAME = { 'sec-fetch-site': 'same-origin' };
/** Token of an issuer, which counts as a key and is none. */
const TOKEN = 'eyJ.a.b';
const LISTEN = { host: '127.0.0.1', port: 8787, tls: null };

describe('the cookie of a session', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['gateway_console=', undefined],
    ['other=a', undefined],
    ['xgateway_console=a', undefined],
    ['gateway_console=a', 'a'],
    ['other=b; gateway_console=a;c=d', 'a'],
    ['gateway_console=a; gateway_console=a', 'a'],
    ['gateway_console=a; gateway_console=b', undefined],
  ])('of the header %j is %s', (cookie, secret) => {
    expect(readCookie({ cookie })).toBe(secret);
  });

  it('is for the console alone, and for no script', () => {
    const plain = 'gateway_console=a; Path=/console/api; Max-Age=60; HttpOnly; SameSite=Strict';
    expect(writeCookie('a', 60, false)).toBe(plain);
    expect(writeCookie('a', 60, true)).toBe(`${plain}; Secure`);
  });
});

describe('the session of a browser', () => {
  let resources: Resources;
  let deps: { -readonly [Name in keyof ConsoleApiDeps]: ConsoleApiDeps[Name] };
  let callers: string[];
  let isFull: boolean;
  let isRated: boolean;
  let value: string;
  let keyId: string;
  let refresh: () => Promise<void>;
  let send: (
    method: string,
    more?: { headers?: IncomingHttpHeaders; body?: unknown },
  ) => Promise<Reply>;

  beforeEach(async () => {
    resources = makeResources();
    const { repository, clock, store } = resources;
    callers = [];
    [isFull, isRated] = [false, false];
    await resources.call('POST organizations', { body: { name: 'home' } });
    const made = await resources.call('POST keys', {
      body: { name: 'first', organization: 'home', role: 'viewer' },
    });
    ({ id: keyId, value } = made.body as { id: string; value: string });
    const keys = createKeyDirectory(resources);
    refresh = () => keys.update('everything');
    await refresh();
    const tickets = createKeyTickets();
    const find = createKeyLookup({ keys, tickets, catchUp: refresh, ageMs: () => 0, clock });
    deps = {
      repository,
      tickets,
      lookup: (key) => (key === TOKEN ? principal() : find(key)),
      rates: {
        isPlatformFull: () => isFull,
        admitPlatform: (caller) => callers.push(caller) > 0 && !isRated,
        admitKey: () => true,
      },
      concurrency: { enter: () => () => undefined },
      sessions: createConsoleSessions({ store, clock }),
      signInAudit: createSignInAudit({ audit: repository.audit, clock }),
      valueOf: createValueLookup({ keys, tickets }),
      resourceValues: RESOURCE_VALUES,
      config: { listen: LISTEN, console: { enabled: null, listen: null } },
    };
    const handler = createSessionHandler(deps);
    send = async (method, { headers = {}, body = {} } = {}) => {
      const bytes = Buffer.from(JSON.stringify(body));
      const request = Readable.from([bytes]) as unknown as IncomingMessage;
      const socket = { remoteAddress: '192.0.2.1' };
      const all = { 'content-length': String(bytes.length), ...headers };
      Object.assign(request, { method, rawHeaders: [], headers: all, socket });
      const response = new ServerResponse(request);
      const exchange = { ...bodySource(request, response), response, id: 'req_1' };
      return await handler(exchange as HttpExchange);
    };
  });

  /** Signs in; gives the headers of calls of the page. */
  async function signedIn(
    by: object = { key: value },
    sent: IncomingHttpHeaders = {},
  ): Promise<Record<string, string>> {
    const { headers } = await send('POST', { body: by, headers: sent });
    const [cookie = ''] = headers?.['set-cookie']?.split(';') ?? [];
    const [, secret = ''] = cookie.split('=');
    return { cookie, [CSRF_HEADER]: csrfOf(secret), ...SAME };
  }

  /** Entries on sessions: what was done, and in which way. */
  const actions = async (): Promise<string[]> => {
    const entries = await resources.store.list<AuditEntry>({ prefix: ENTRIES, limit: 100 });
    return entries
      .map((entry) => entry.value)
      .filter(({ object }) => object.kind === 'console_session')
      .map(({ action, changes }) => [action, changes[0]?.new ?? ''].join(' ').trim());
  };

  const asked = (method: string, headers: IncomingHttpHeaders) =>
    actingSession({ method, headers } as IncomingMessage, deps);

  describe('that acts', () => {
    it('is that of the cookie', async () => {
      const headers = await signedIn();
      const session = await asked('GET', headers);
      expect(session).toMatchObject({ key: keyId, value: deps.valueOf(value) });
      expect(headers['cookie']).toBe(`gateway_console=${session.secret}`);
    });

    it('is none without its cookie, which counts as a guess', async () => {
      callers = [];
      for (const cookie of [undefined, `gateway_console=${SECRET}`])
        await expect(asked('GET', { cookie })).rejects.toMatchObject({
          code: 'console_signed_out',
        });
      expect(callers).toEqual(['refused', 'refused']);
      isRated = true;
      await expect(asked('GET', {})).rejects.toMatchObject({ code: 'global_rate_limited' });
    });

    it('counts as no guess where its cookie is right', async () => {
      const headers = await signedIn();
      callers = [];
      await asked('POST', headers);
      expect(callers).toEqual([]);
    });

    it('is not looked for while nobody is let in', async () => {
      const headers = await signedIn();
      isFull = true;
      await expect(asked('GET', headers)).rejects.toMatchObject({ code: 'global_rate_limited' });
    });

    it.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE'])(
      'does not act by %s for a page of another origin',
      async (method) => {
        const headers = { ...(await signedIn()), 'sec-fetch-site': 'cross-site' };
        await expect(asked(method, headers)).rejects.toMatchObject({
          code: 'console_refused',
          type: 'csrf_refused',
        });
      },
    );

    it.each([
      ['GET', true],
      ['HEAD', true],
      ['POST', false],
      ['PATCH', false],
    ])('acts by %s where nobody knows which page asks: %s', async (method, isTaken) => {
      const { 'sec-fetch-site': _site, ...headers } = await signedIn();
      const asking = asked(method, headers);
      if (isTaken) expect(await asking).toMatchObject({ key: keyId });
      else await expect(asking).rejects.toMatchObject({ code: 'console_refused' });
    });

    it.each(['GET', 'POST'])('does not act by %s for a page of another session', async (method) => {
      const headers = await signedIn();
      const secret = headers['cookie']?.split('=')[1] ?? '';
      const own = { ...headers, [SESSION_HEADER]: sessionIdOf(secret) };
      expect(await asked(method, own)).toMatchObject({ key: keyId });
      for (const id of ['', sessionIdOf(SECRET)])
        await expect(asked(method, { ...headers, [SESSION_HEADER]: id })).rejects.toMatchObject({
          code: 'console_signed_out',
          message: expect.stringContaining('took the place'),
        });
    });

    it.each([undefined, '', csrfOf(SECRET)])('changes nothing by the token %j', async (token) => {
      const headers = { ...(await signedIn()), [CSRF_HEADER]: token };
      expect(await asked('GET', headers)).toMatchObject({ key: keyId });
      await expect(asked('POST', headers)).rejects.toMatchObject({ code: 'console_refused' });
    });
  });

  describe('that begins', () => {
    it('is told with its key, its organization and its end', async () => {
      const { status, headers, body } = await send('POST', { body: { key: ` ${value}\n` } });
      expect(status).toBe(201);
      expect(headers?.['cache-control']).toBe('no-store');
      expect(headers?.['set-cookie']).toMatch(/^gateway_console=[\w-]{43}; .*; Max-Age=43200; /);
      expect(headers?.['set-cookie']).not.toContain('Secure');
      expect(body).toEqual({
        type: 'console_session',
        id: expect.stringMatching(/^[\w-]{16}$/),
        csrf: expect.stringMatching(/^[\w-]{43}$/),
        key: { id: keyId, name: 'first', scopes: null, role: 'viewer' },
        organization: { id: expect.stringMatching(/^org_/), name: 'home' },
        api_url: null,
        expires_at: new Date(resources.clock.now() + 2 * 3_600_000).toISOString(),
      });
      expect(await actions()).toEqual(['sign_in key']);
    });

    it('has a cookie for TLS alone where its page came by TLS', async () => {
      const headers = { 'x-forwarded-proto': 'https' };
      const reply = await send('POST', { body: { key: value }, headers });
      expect(reply.headers?.['set-cookie']).toMatch(/; Secure$/);
    });

    it.each([{}, { key: 'a', link: 'b' }, { key: 7 }, { key: 7, link: null }])(
      'needs either a key or a link, unlike %j',
      async (body) => {
        await expect(send('POST', { body })).rejects.toMatchObject({ code: 'invalid_request' });
        expect(await actions()).toEqual([]);
      },
    );

    it('takes 4,096 bytes', async () => {
      const padded = (size: number) => ({
        key: value,
        more: 'a'.repeat(size - JSON.stringify({ key: value, more: '' }).length),
      });
      expect(await send('POST', { body: padded(4_096) })).toMatchObject({ status: 201 });
      await expect(send('POST', { body: padded(4_097) })).rejects.toMatchObject({
        code: 'body_too_large',
      });
    });

    it('ends the one whose cookie it replaces', async () => {
      const former = await signedIn();
      const other = await signedIn();
      const { cookie } = former;
      const later = await signedIn({ key: value }, { cookie });
      await expect(asked('GET', former)).rejects.toMatchObject({ code: 'console_signed_out' });
      for (const headers of [other, later])
        expect(await asked('GET', headers)).toMatchObject({ key: keyId });
      const all = await actions();
      expect(all.toSorted()).toEqual(['sign_in key', 'sign_in key', 'sign_in key', 'sign_out']);
    });

    it('leaves the one of its cookie where it is refused', async () => {
      const former = await signedIn();
      const { cookie } = former;
      await expect(
        send('POST', { body: { key: TOKEN }, headers: { cookie } }),
      ).rejects.toMatchObject({ code: 'invalid_api_key' });
      expect(await asked('GET', former)).toMatchObject({ key: keyId });
    });

    it('begins where its browser has the cookie of one that is over', async () => {
      const cookie = `gateway_console=${SECRET}`;
      expect(await signedIn({ key: value }, { cookie })).toBeDefined();
      expect(await actions()).toEqual(['sign_in key']);
    });

    it('tells where the API is if not beside the console', async () => {
      const apiOf = async (): Promise<string | null> => {
        const headers = { host: 'desk.test:9000' };
        const { body } = await send('POST', { body: { key: value }, headers });
        return (body as ConsoleSessionView).api_url;
      };
      const own = { enabled: null, listen: { host: '0.0.0.0', port: 9000 } };
      deps.config = { listen: { ...LISTEN, host: '0.0.0.0' }, console: own };
      expect(await apiOf()).toBe('http://desk.test:8787');
      deps.publicUrl = 'https://llm.example';
      expect(await apiOf()).toBe('https://llm.example');
    });

    it('is refused for a wrong key, and for the token of an issuer, which is noted', async () => {
      for (const key of [`sk-${'0'.repeat(64)}`, TOKEN])
        await expect(send('POST', { body: { key } })).rejects.toMatchObject({
          code: 'invalid_api_key',
        });
      expect(await actions()).toEqual(['sign_in_refused key', 'sign_in_refused key']);
    });

    it('is refused for a page of another origin, before its key is looked at', async () => {
      const headers = { 'sec-fetch-site': 'same-site' };
      callers = [];
      await expect(send('POST', { body: { key: value }, headers })).rejects.toMatchObject({
        code: 'console_refused',
      });
      expect(callers).toEqual([]);
    });

    it('opens by a link once', async () => {
      const { link } = await deps.sessions.makeLink({ key: keyId, value: deps.valueOf(value) });
      const headers = await signedIn({ link });
      expect(await asked('GET', headers)).toMatchObject({
        key: keyId,
        value: deps.valueOf(value),
      });
      callers = [];
      await expect(send('POST', { body: { link } })).rejects.toMatchObject({
        code: 'link_refused',
        status: 401,
      });
      expect(callers).toEqual(['refused']);
      expect(deps.tickets.size).toBe(0);
      expect(await actions()).toEqual(['sign_in link', 'sign_in_refused link']);
    });

    it('opens by no link of a revoked key', async () => {
      const { link } = await deps.sessions.makeLink({ key: keyId });
      await resources.call(`POST keys/${keyId}/revoke`);
      await refresh();
      await expect(send('POST', { body: { link } })).rejects.toMatchObject({
        code: 'api_key_revoked',
      });
      expect(deps.tickets.size).toBe(0);
    });
  });

  it('is shown to its page, and its head to who asks for no more', async () => {
    const headers = await signedIn();
    const shown = { key: { id: keyId }, csrf: headers[CSRF_HEADER] };
    for (const method of ['GET', 'HEAD'])
      expect(await send(method, { headers })).toMatchObject({
        status: 200,
        headers: { 'cache-control': 'no-store' },
        body: shown,
      });
    expect(deps.tickets.size).toBe(0);
  });

  it('is over with its key', async () => {
    const headers = await signedIn();
    await resources.call(`POST keys/${keyId}/revoke`);
    await refresh();
    await expect(send('GET', { headers })).rejects.toMatchObject({ code: 'api_key_revoked' });
    expect(deps.tickets.size).toBe(0);
  });

  it.each([false, true])('ends when it is told to, its key revoked: %s', async (isRevoked) => {
    const headers = await signedIn();
    if (isRevoked) await resources.call(`POST keys/${keyId}/revoke`);
    await refresh();
    const { status, headers: told } = await send('DELETE', { headers });
    expect(status).toBe(204);
    expect(told?.['set-cookie']).toMatch(/^gateway_console=; .*; Max-Age=0; /);
    expect(await actions()).toEqual(['sign_in key', 'sign_out']);
    await expect(send('GET', { headers })).rejects.toMatchObject({ code: 'console_signed_out' });
  });

  it('tells the scopes of its key', async () => {
    const { body } = await resources.call('POST keys', {
      body: { name: 'second', organization: 'home', scopes: ['models', 'run'] },
    });
    await refresh();
    const { body: view } = await send('POST', { body: { key: body['value'] } });
    expect((view as ConsoleSessionView).key).toMatchObject({
      scopes: ['models', 'run'],
      role: null,
    } satisfies Partial<Record<keyof Principal, unknown>>);
  });

  it('is asked for in no other way', async () => {
    await expect(send('PUT')).rejects.toMatchObject({
      code: 'method_not_allowed',
      headers: { allow: 'POST, GET, HEAD, DELETE' },
    });
  });
});
