import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { GatewayError } from '../../core/errors.ts';
import { createSealer } from '../../core/seal.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Key, Store } from '../../store/store.ts';
import { admitToPlatform } from '../../surfaces/gate.ts';
import type { GateDeps } from '../../surfaces/gate.ts';
import type { Handler, HttpExchange, Reply } from '../../surfaces/http-exchange.ts';
import type { Sso } from './open-sso.ts';
import type { Departure } from './provider.ts';

export interface ConsoleSignInDeps extends Pick<GateDeps, 'rates'> {
  readonly sso: Sso | undefined;
  readonly store: Pick<Store, 'commit'>;
  readonly clock: Clock;
  readonly masterKeys: readonly Uint8Array[];
  /** Address at which people reach the gateway; undefined: as the request names it. */
  readonly publicUrl?: string | undefined;
  /** True where the console is reached by TLS. */
  isByTls(exchange: HttpExchange): boolean;
  /** Word that opens one session of this key, soon. */
  makeLink(key: string): Promise<string>;
}

/** Path of the way to the provider, below the console; the way back is below it. */
export const SSO_PATH = '/console/sso';
const BACK_PATH = `${SSO_PATH}/callback`;
const COOKIE = 'gateway_console_sso';
const PLACE = 'console/sso';
const AWAY_MS = 10 * 60_000;
const MAX_NAME = 256;

interface Away extends Departure {
  readonly expiresAt: number;
  readonly organization: string | undefined;
}

/**
 * Sends a browser to the provider, and takes it back. The state of the sign-in is sealed in a
 * cookie of that browser, so that nothing is stored for abandoned sign-ins and any process can take
 * it; a row lets each way back work once.
 */
export function createConsoleSignIn(deps: ConsoleSignInDeps): Handler {
  return async (exchange) => {
    if (exchange.request.method !== 'GET')
      throw new GatewayError('method_not_allowed', { headers: { allow: 'GET' } });
    try {
      await admitToPlatform(deps.rates, 'refused');
      if (!deps.sso) throw new GatewayError('not_found', { message: 'server.sso is not set' });
      const isBack = exchange.path === BACK_PATH;
      return await (isBack
        ? takeBack(exchange, deps.sso, deps)
        : sendAway(exchange, deps.sso, deps));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
      const body = Buffer.from(`${error.message}\n`);
      return { status: error.status, headers: { ...headers, ...error.headers }, body };
    }
  };
}

async function sendAway(
  exchange: HttpExchange,
  { provider }: Sso,
  deps: ConsoleSignInDeps,
): Promise<Reply> {
  const isSecure = deps.isByTls(exchange);
  const { host = '' } = exchange.request.headers;
  const own = deps.publicUrl ?? `${isSecure ? 'https' : 'http'}://${host}`;
  const { href, ...departure } = await provider.depart(`${own}${BACK_PATH}`);
  const organization = new URLSearchParams(exchange.search).get('organization') ?? undefined;
  const away: Away = {
    ...departure,
    expiresAt: deps.clock.now() + AWAY_MS,
    organization: organization?.slice(0, MAX_NAME),
  };
  const sealed = createSealer(deps.masterKeys).seal(JSON.stringify(away), PLACE);
  const value = Buffer.from(sealed).toString('base64url');
  return redirect(href, writeCookie(value, { seconds: AWAY_MS / 1_000, isSecure }));
}

async function takeBack(exchange: HttpExchange, sso: Sso, deps: ConsoleSignInDeps): Promise<Reply> {
  const away = readAway(exchange, deps);
  await useUp(away, deps);
  const claims = await sso.provider.arrive(exchange.search, away);
  const { id } = await sso.signIn(claims, {
    exchange,
    by: 'sso',
    organization: away.organization,
  });
  const link = await deps.makeLink(id);
  const cookie = writeCookie('', { seconds: 0, isSecure: deps.isByTls(exchange) });
  return redirect(`/console/#link=${link}`, cookie);
}

/** @throws GatewayError `sso_refused` where this browser did not leave, or left too long ago */
function readAway({ request, search }: HttpExchange, deps: ConsoleSignInDeps): Away {
  const found = request.headers.cookie
    ?.split(';')
    .map((part) => part.trim().split('=', 2))
    .find(([name]) => name === COOKIE);
  const away = openAway(found?.[1], deps);
  const state = new URLSearchParams(search).get('state');
  if (away && away.state === state && away.expiresAt > deps.clock.now()) return away;
  const message = 'this sign-in did not begin in this browser, or too long ago; begin again';
  throw new GatewayError('sso_refused', { message });
}

function openAway(cookie: string | undefined, { masterKeys }: ConsoleSignInDeps): Away | undefined {
  try {
    const sealed = Buffer.from(cookie ?? '', 'base64url').toString();
    return JSON.parse(createSealer(masterKeys).open(sealed, PLACE)) as Away;
  } catch {
    return undefined;
  }
}

/** @throws GatewayError `sso_refused` the second time, on any process */
async function useUp({ state }: Away, { store }: ConsoleSignInDeps): Promise<void> {
  const hash = createHash('sha256').update(state).digest('base64url');
  const key: Key = ['console', 'sso', hash];
  const op = { type: 'put', key, value: 1, ttlMs: AWAY_MS, ifAbsent: true } as const;
  const { ok } = await store.commit([op]);
  if (ok) return;
  throw new GatewayError('sso_refused', { message: 'this sign-in was used already; begin again' });
}

/** Lax: the way back begins at another site. */
function writeCookie(
  value: string,
  { seconds, isSecure }: { seconds: number; isSecure: boolean },
): string {
  const words = [`${COOKIE}=${value}`, `Path=${SSO_PATH}`, `Max-Age=${seconds}`, 'HttpOnly'];
  return [...words, 'SameSite=Lax', ...(isSecure ? ['Secure'] : [])].join('; ');
}

function redirect(location: string, cookie: string): Reply {
  const headers = { location, 'set-cookie': cookie, 'cache-control': 'no-store' };
  return { status: 303, headers: { ...headers, 'referrer-policy': 'no-referrer' } };
}
