import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { createSealer } from '../../../src/core/seal.ts';
import { createConsoleSignIn, SSO_PATH } from '../../../src/server/sso/console-sign-in.ts';
import type { ConsoleSignInDeps } from '../../../src/server/sso/console-sign-in.ts';
import type { Sso } from '../../../src/server/sso/open-sso.ts';
import type { Departure } from '../../../src/server/sso/provider.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { HttpExchange, Reply } from '../../../src/surfaces/http-exchange.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';

const AWAY = 10 * 60_000;
const BACK = `${SSO_PATH}/callback`;
const MASTER = Buffer.alloc(32, 7);
const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };

describe('a browser on its way to the provider and back', () => {
  let clock: FakeClock;
  let departures: number;
  let arrivals: { search: string; departure: Departure }[];
  let signIns: object[];
  let callers: string[];
  let fault: Error | undefined;
  let deps: ConsoleSignInDeps;

  beforeEach(() => {
    clock = createFakeClock();
    departures = 0;
    arrivals = [];
    signIns = [];
    callers = [];
    fault = undefined;
    const provider = {
      async depart(redirectUri: string) {
        const state = `state-${++departures}`;
        const departure = { state, nonce: 'n', verifier: 'v', redirectUri };
        return { ...departure, href: `https://id.test/authorize?state=${state}` };
      },
      async arrive(search: string, departure: Departure) {
        arrivals.push({ search, departure });
        if (fault) throw fault;
        return { sub: 's1' };
      },
    };
    const sso = {
      provider,
      async signIn(claims: object, { by, organization }: { by: string; organization?: string }) {
        signIns.push({ claims, by, organization });
        return { id: 'key_1' };
      },
    } as unknown as Sso;
    deps = {
      sso,
      clock,
      // Rows that are gone by their time would hide what the cookie says.
      store: openMemoryStore(createFakeClock()),
      masterKeys: [MASTER],
      rates: {
        isPlatformFull: () => false,
        admitPlatform: (caller) => callers.push(caller) > 0,
        admitKey: () => true,
      },
      isByTls: () => false,
      makeLink: async (key) => `link-of-${key}`,
    };
  });

  interface Asked {
    readonly method?: string;
    readonly headers?: IncomingHttpHeaders;
    readonly changes?: Partial<ConsoleSignInDeps>;
  }
  async function ask(target: string, { method = 'GET', headers = {}, changes }: Asked = {}) {
    const [path = '', query] = target.split('?');
    const request = { method, headers: { host: 'gateway.test', ...headers } } as IncomingMessage;
    const search = query === undefined ? '' : `?${query}`;
    const handler = createConsoleSignIn({ ...deps, ...changes });
    return (await handler({ request, path, search } as HttpExchange)) as Reply;
  }
  const textOf = ({ body }: Reply): string => String(body);
  const cookieOf = ({ headers }: Reply): string => headers?.['set-cookie']?.split(';')[0] ?? '';
  const back = (cookie: string, state = 'state-1', changes?: Partial<ConsoleSignInDeps>) =>
    ask(`${BACK}?code=c&state=${state}`, {
      headers: { cookie },
      ...(changes && { changes }),
    });

  it('is sent away with what must come back, sealed in a cookie', async () => {
    const reply = await ask(SSO_PATH);
    expect(reply).toEqual({
      status: 303,
      headers: {
        location: 'https://id.test/authorize?state=state-1',
        'set-cookie': expect.stringMatching(
          /^gateway_console_sso=[\w-]+; Path=\/console\/sso; Max-Age=600; HttpOnly; SameSite=Lax$/,
        ),
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      },
    });
    const sealed = Buffer.from(cookieOf(reply).split('=')[1] ?? '', 'base64url').toString();
    expect(sealed).not.toContain('state-1');
    expect(callers).toEqual(['refused']);
  });

  it.each<[Partial<ConsoleSignInDeps>, string]>([
    [{}, 'http://gateway.test'],
    [{ isByTls: () => true }, 'https://gateway.test'],
    [{ isByTls: () => true, publicUrl: 'https://public.test' }, 'https://public.test'],
  ])('is told to come back to where it left', async (changes, origin) => {
    const cookie = cookieOf(await ask(SSO_PATH, { changes }));
    await back(cookie);
    expect(arrivals).toMatchObject([{ departure: { redirectUri: `${origin}${BACK}` } }]);
  });

  it('has cookies for TLS alone where it came by TLS', async () => {
    const changes = { isByTls: () => true };
    const away = await ask(SSO_PATH, { changes });
    expect(away.headers?.['set-cookie']).toMatch(/; SameSite=Lax; Secure$/);
    const home = await back(cookieOf(away), 'state-1', changes);
    expect(home.headers?.['set-cookie']).toMatch(/; SameSite=Lax; Secure$/);
  });

  it('comes back to the console with a link, and without the cookie', async () => {
    const cookie = cookieOf(await ask(SSO_PATH));
    const reply = await back(`other=a; ${cookie}`);
    expect(reply).toEqual({
      status: 303,
      headers: {
        location: '/console/#link=link-of-key_1',
        'set-cookie': 'gateway_console_sso=; Path=/console/sso; Max-Age=0; HttpOnly; SameSite=Lax',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      },
    });
    expect(arrivals).toMatchObject([
      {
        search: '?code=c&state=state-1',
        departure: { state: 'state-1', nonce: 'n', verifier: 'v' },
      },
    ]);
    expect(signIns).toEqual([{ claims: { sub: 's1' }, by: 'sso', organization: undefined }]);
    expect(callers).toEqual(['refused', 'refused']);
  });

  it('may name an organization, in up to 256 characters', async () => {
    const query = `organization=${'o'.repeat(257)}`;
    await back(cookieOf(await ask(`${SSO_PATH}?${query}`)));
    expect(signIns).toMatchObject([{ organization: 'o'.repeat(256) }]);
  });

  it('comes back within ten minutes', async () => {
    const cookies = [cookieOf(await ask(SSO_PATH)), cookieOf(await ask(SSO_PATH))];
    clock.advance(AWAY - 1);
    expect((await back(cookies[0] ?? '', 'state-1')).status).toBe(303);
    clock.advance(1);
    const late = await back(cookies[1] ?? '', 'state-2');
    expect(late).toMatchObject({ status: 403, headers: PLAIN });
    expect(textOf(late)).toBe(
      'this sign-in did not begin in this browser, or too long ago; begin again\n',
    );
    expect(arrivals).toHaveLength(1);
  });

  it('comes back once', async () => {
    const cookie = cookieOf(await ask(SSO_PATH));
    const replies = await Promise.all([back(cookie), back(cookie), back(cookie)]);
    expect(replies.map(({ status }) => status).sort((a, b) => a - b)).toEqual([303, 403, 403]);
    const again = await back(cookie);
    expect(textOf(again)).toBe('this sign-in was used already; begin again\n');
    expect(arrivals).toHaveLength(1);
  });

  it('does not come back with the state of another departure', async () => {
    const cookie = cookieOf(await ask(SSO_PATH));
    for (const state of ['state-2', '']) expect((await back(cookie, state)).status).toBe(403);
    expect((await ask(BACK, { headers: { cookie } })).status).toBe(403);
    expect(arrivals).toEqual([]);
  });

  it.each([
    ['none', () => ''],
    ['one of another name', (cookie: string) => `x${cookie}`],
    ['one without a value', () => 'gateway_console_sso='],
    ['one that was changed', (cookie: string) => `${cookie.slice(0, -6)}AAAAAA`],
    [
      'one that was sealed for another place',
      () => {
        const away = { state: 'state-1', expiresAt: Number.MAX_SAFE_INTEGER };
        const sealed = createSealer([MASTER]).seal(JSON.stringify(away), 'other');
        return `gateway_console_sso=${Buffer.from(sealed).toString('base64url')}`;
      },
    ],
  ])('does not come back with a cookie such as %s', async (_what, toCookie) => {
    const cookie = cookieOf(await ask(SSO_PATH));
    expect((await back(toCookie(cookie))).status).toBe(403);
    expect(arrivals).toEqual([]);
  });

  it('comes back by any key that seals or did', async () => {
    const cookie = cookieOf(await ask(SSO_PATH));
    const next = Buffer.alloc(32, 8);
    expect((await back(cookie, 'state-1', { masterKeys: [next] })).status).toBe(403);
    expect((await back(cookie, 'state-1', { masterKeys: [next, MASTER] })).status).toBe(303);
  });

  it('is told what the provider refuses, and comes back no second time with it', async () => {
    const cookie = cookieOf(await ask(SSO_PATH));
    fault = new GatewayError('sso_refused', { message: 'no', headers: { 'x-a': '1' } });
    const reply = await back(cookie);
    expect(reply).toMatchObject({ status: 403, headers: { ...PLAIN, 'x-a': '1' } });
    expect(textOf(reply)).toBe('no\n');
    fault = undefined;
    expect((await back(cookie)).status).toBe(403);
    expect(signIns).toEqual([]);
  });

  it('is not told of a bug', async () => {
    const cookie = cookieOf(await ask(SSO_PATH));
    fault = new TypeError('a bug');
    await expect(back(cookie)).rejects.toThrow(TypeError);
  });

  it('asks by GET alone', async () => {
    await expect(ask(SSO_PATH, { method: 'POST' })).rejects.toMatchObject({
      code: 'method_not_allowed',
      headers: { allow: 'GET' },
    });
    expect(callers).toEqual([]);
  });

  it('is told where there is no provider', async () => {
    const reply = await ask(SSO_PATH, { changes: { sso: undefined } });
    expect(reply).toMatchObject({ status: 404, headers: PLAIN });
    expect(textOf(reply)).toBe('server.sso is not set\n');
  });

  it('is turned away while too many guess', async () => {
    const rates = { ...deps.rates, admitPlatform: () => false };
    expect(await ask(SSO_PATH, { changes: { rates } })).toMatchObject({ status: 429 });
    expect(departures).toBe(0);
  });
});
