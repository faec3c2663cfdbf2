import type { Role } from '../../core/access.ts';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { GatewayError } from '../../core/errors.ts';
import type { ValueBound } from '../../core/json/json-document.ts';
import { readObject } from '../../resources/fields/parse-body.ts';
import { organization } from '../../resources/kinds/organization.ts';
import type { Repository } from '../../resources/store/repository.ts';
import { admit, admitToPlatform, principalOf, SELF } from '../../surfaces/gate.ts';
import type { GateDeps, KeyFound } from '../../surfaces/gate.ts';
import type { Handler, HttpExchange, Reply } from '../../surfaces/http-exchange.ts';
import { readBody } from '../../surfaces/read-body.ts';
import type { Principal } from '../../usage/principal.ts';
import { csrfOf, isCsrfOf, SESSION_MS, sessionIdOf } from './console-sessions.ts';
import type { ConsoleSession, ConsoleSessions } from './console-sessions.ts';
import type { KeyHolder, KeyTickets } from './key-tickets.ts';
import type { SignInAudit } from './sign-in-audit.ts';
import { apiAddress } from './is-console-served.ts';
import type { Places } from './is-console-served.ts';
import { isByTls, senderOf } from './same-origin.ts';

const NAME = 'gateway_console';
/** Path below which browsers send the cookie. */
const PATH = '/console/api';

/** Secret of the session that a browser sends; undefined without one, and for two that differ. */
export function readCookie({ cookie }: IncomingHttpHeaders): string | undefined {
  const values = new Set<string>();
  for (const part of cookie?.split(';') ?? []) {
    const [name, value] = part.trim().split('=', 2);
    if (name === NAME && value) values.add(value);
  }
  const [only] = values;
  return values.size === 1 ? only : undefined;
}

/** Header that keeps the secret where no script reads it, for so many seconds; 0 removes it. */
export function writeCookie(secret: string, seconds: number, isSecure: boolean): string {
  const words = [
    `${NAME}=${secret}`,
    `Path=${PATH}`,
    `Max-Age=${seconds}`,
    'HttpOnly',
    'SameSite=Strict',
  ];
  return [...words, ...(isSecure ? ['Secure'] : [])].join('; ');
}

export interface ConsoleApiDeps extends GateDeps {
  readonly sessions: ConsoleSessions;
  readonly tickets: KeyTickets;
  readonly repository: Repository;
  readonly signInAudit: SignInAudit;
  readonly config: Places;
  readonly publicUrl?: string | undefined;
  /** Mark of the value that a key was presented with. */
  valueOf(presented: string): string | undefined;
  readonly resourceValues: ValueBound;
}

/** Answer to a sign-in, and to who asks for the session of a cookie. */
export interface ConsoleSessionView {
  readonly type: 'console_session';
  /** Name for the header `x-gateway-console-session`; the audit log has the same. */
  readonly id: string;
  /** Token for the header `x-gateway-csrf` of every change. */
  readonly csrf: string;
  /** `scopes` null: everything but admin. */
  readonly key: {
    id: string;
    name: string;
    scopes: readonly string[] | null;
    role: Role | null;
  };
  readonly organization: { id: string; name: string };
  /** Origin of the API; null where it is that of the console. */
  readonly api_url: string | null;
  readonly expires_at: string;
}

export const CSRF_HEADER = 'x-gateway-csrf';
/** Header by which a page says for which session it asks. */
export const SESSION_HEADER = 'x-gateway-console-session';
const MAX_SIGN_IN_BYTES = 4_096;
/** Holder of the memory for bodies of sign-ins, which have no key yet. */
const NOBODY = 'console';
const READS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);
/** `Sec-Fetch-Dest` of what a script fetches, as the pages do for all that they need of the API. */
const FETCHED = 'empty';
const KEPT_NOWHERE = { 'cache-control': 'no-store' };

/** A session that a request may act for. */
export interface ActingSession extends ConsoleSession {
  readonly secret: string;
}

/**
 * Session of the cookie of a request.
 *
 * @throws GatewayError `console_signed_out`, also for a page of a session whose cookie another one
 *   replaced; `global_rate_limited`; `console_refused` for a page of another origin, for what a browser
 *   loads as a page or as a part of one, and for a change without the token of this very session
 */
export async function actingSession(
  { method, headers }: IncomingMessage,
  { sessions, rates }: Pick<ConsoleApiDeps, 'sessions' | 'rates'>,
): Promise<ActingSession> {
  if (rates.isPlatformFull()) throw new GatewayError('global_rate_limited');
  const isRead = READS.has(method);
  const sender = senderOf(headers);
  const secret = readCookie(headers);
  const session = secret === undefined ? undefined : await sessions.use(secret);
  if (secret === undefined || !session) {
    // Guesses count as those of keys do.
    await admitToPlatform(rates, 'refused');
    throw new GatewayError('console_signed_out');
  }
  if (sender === 'other' || (sender === 'unknown' && !isRead))
    throw refused('its origin is another');
  const use = headers['sec-fetch-dest'];
  if (use !== undefined && use !== FETCHED)
    throw refused(`it is loaded as ${use}; open the pages below /console/ instead`);
  const asked = headers[SESSION_HEADER];
  if (asked !== undefined && asked !== sessionIdOf(secret)) {
    const message = 'another sign-in of this browser took the place of this one: sign in again';
    throw new GatewayError('console_signed_out', { message });
  }
  if (!isRead && !isCsrfOf(secret, headers[CSRF_HEADER]?.toString()))
    throw refused(`its header ${CSRF_HEADER} is not that of the session`);
  return { ...session, secret };
}

/** `POST`, `GET` and `DELETE /console/api/session`. */
export function createSessionHandler(deps: ConsoleApiDeps): Handler {
  const handlers: Readonly<Record<string, Handler>> = {
    POST: (exchange) => signIn(exchange, deps),
    GET: (exchange) => show(exchange, deps),
    HEAD: (exchange) => show(exchange, deps),
    DELETE: (exchange) => signOut(exchange, deps),
  };
  return async (exchange) => {
    const handle = handlers[exchange.request.method ?? ''];
    if (!handle)
      throw new GatewayError('method_not_allowed', {
        headers: { allow: Object.keys(handlers).join(', ') },
      });
    return handle(exchange);
  };
}

async function signIn(exchange: HttpExchange, deps: ConsoleApiDeps): Promise<Reply> {
  const { headers } = exchange.request;
  if (senderOf(headers) === 'other') throw refused('its origin is another');
  const bytes = await readBody(exchange, { limit: MAX_SIGN_IN_BYTES, holder: NOBODY });
  const { key, link } = await readObject(bytes, { values: deps.resourceValues });
  if ((typeof key === 'string') === (typeof link === 'string'))
    throw new GatewayError('invalid_request', { message: 'expected either key or link' });
  const by = typeof key === 'string' ? 'key' : 'link';
  const { principal, value } = await (
    typeof key === 'string' ? admitKey(key.trim(), deps) : admitLink(String(link), deps)
  ).catch(async (refusal: unknown) => {
    await deps.signInAudit.refused(exchange, by, refusal);
    throw refusal;
  });
  await endFormer(exchange, deps);
  const { secret, ...session } = await deps.sessions.open(
    { key: principal.keyId, value },
    deps.signInAudit.toCommit('sign_in', exchange, { principal, by }),
  );
  const cookie = writeCookie(secret, SESSION_MS / 1000, isByTls(headers));
  const body = await toView(exchange, { principal, session: { ...session, secret } }, deps);
  return { status: 201, headers: { ...KEPT_NOWHERE, 'set-cookie': cookie }, body };
}

async function show(exchange: HttpExchange, deps: ConsoleApiDeps): Promise<Reply> {
  const session = await actingSession(exchange.request, deps);
  const principal = principalOf(await stateOf(session, deps));
  const body = await toView(exchange, { principal, session }, deps);
  return { status: 200, headers: KEPT_NOWHERE, body };
}

async function signOut(exchange: HttpExchange, deps: ConsoleApiDeps): Promise<Reply> {
  const { request } = exchange;
  await end(exchange, await actingSession(request, deps), deps);
  const cookie = writeCookie('', 0, isByTls(request.headers));
  return { status: 204, headers: { ...KEPT_NOWHERE, 'set-cookie': cookie } };
}

/** Ends the session whose cookie is about to be replaced: no page could end it any more. */
async function endFormer(exchange: HttpExchange, deps: ConsoleApiDeps): Promise<void> {
  const secret = readCookie(exchange.request.headers);
  const session = secret === undefined ? undefined : await deps.sessions.use(secret);
  if (secret !== undefined && session) await end(exchange, { ...session, secret }, deps);
}

async function end(
  exchange: HttpExchange,
  session: ActingSession,
  deps: ConsoleApiDeps,
): Promise<void> {
  const { secret, key } = session;
  const state = await stateOf(session, deps);
  const principal = typeof state === 'string' ? { keyId: key, keyName: key } : state;
  await deps.sessions.close(secret, deps.signInAudit.toCommit('sign_out', exchange, { principal }));
}

interface SignedIn {
  readonly principal: Principal;
  /** Mark of the value of the key. */
  readonly value: string | undefined;
}

/** A wrong key counts as it does everywhere. */
async function admitKey(key: string, deps: ConsoleApiDeps): Promise<SignedIn> {
  const signedIn = await admitWord(key, deps);
  // The token of an issuer would be over long before its session.
  if (signedIn.value === undefined) throw new GatewayError('invalid_api_key');
  return signedIn;
}

async function admitWord(word: string, deps: ConsoleApiDeps): Promise<SignedIn> {
  const { principal, leave } = await admit(word, SELF, deps);
  leave();
  return { principal, value: deps.valueOf(word) };
}

async function admitLink(link: string, deps: ConsoleApiDeps): Promise<SignedIn> {
  const holder = await deps.sessions.takeLink(link);
  if (holder) {
    const ticket = deps.tickets.issue(holder);
    return admitWord(ticket.word, deps).finally(() => ticket.end());
  }
  await admitToPlatform(deps.rates, 'refused');
  const message = 'the link was used, or is too old; get another with: gateway console';
  throw new GatewayError('link_refused', { status: 401, message });
}

async function stateOf(
  { key, value }: KeyHolder,
  { tickets, lookup }: Pick<ConsoleApiDeps, 'tickets' | 'lookup'>,
): Promise<KeyFound> {
  const ticket = tickets.issue({ key, value });
  try {
    return await lookup(ticket.word);
  } finally {
    ticket.end();
  }
}

interface Shown {
  readonly principal: Principal;
  readonly session: ActingSession;
}

async function toView(
  { request }: HttpExchange,
  { principal, session: { secret, expiresAt } }: Shown,
  { repository, config, publicUrl }: ConsoleApiDeps,
): Promise<ConsoleSessionView> {
  const { keyId, keyName, scopes, role = null, organizationId } = principal;
  const owner = await repository.get(organization, organizationId, { organization: null });
  return {
    type: 'console_session',
    id: sessionIdOf(secret),
    csrf: csrfOf(secret),
    key: { id: keyId, name: keyName, scopes: scopes && [...scopes], role },
    organization: { id: organizationId, name: owner.spec['name'] },
    api_url: publicUrl ?? apiAddress(config, request.headers.host) ?? null,
    expires_at: new Date(expiresAt).toISOString(),
  };
}

function refused(cause: string): GatewayError {
  return new GatewayError('console_refused', {
    message: `the console takes calls of its own pages alone: ${cause}`,
    type: 'csrf_refused',
  });
}
