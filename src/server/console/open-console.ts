import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../core/errors.ts';
import { packageFile } from '../../core/package-root.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Store } from '../../store/store.ts';
import { onceClosed } from '../../surfaces/http-exchange.ts';
import type { ExchangeDeps, Handler } from '../../surfaces/http-exchange.ts';
import { answerInFront } from '../http/entrance.ts';
import type { RoutesOptions } from '../http/routes.ts';
import { actingSession, createSessionHandler, CSRF_HEADER, SESSION_HEADER } from './console-api.ts';
import type { ConsoleApiDeps } from './console-api.ts';
import { openConsoleFiles } from './console-files.ts';
import { CONSOLE_PATH } from './console-front.ts';
import type { ConsoleServer } from './console-front.ts';
import { createConsoleSessions } from './console-sessions.ts';
import { createConsoleSignIn, SSO_PATH } from '../sso/console-sign-in.ts';
import type { ConsoleSignInDeps } from '../sso/console-sign-in.ts';
import { viewOf } from '../sso/sso-handlers.ts';
import { createReadTogether, TOGETHER } from './read-together.ts';
import { isByTls } from './same-origin.ts';
import { createSignInAudit } from './sign-in-audit.ts';
import { OpenStreams } from './open-streams.ts';

export interface ConsoleDeps
  extends Omit<ConsoleApiDeps, 'sessions' | 'signInAudit'>, ExchangeDeps, RoutesOptions {
  readonly sso: ConsoleSignInDeps['sso'];
  readonly masterKeys: ConsoleSignInDeps['masterKeys'];
  readonly store: Pick<Store, 'get' | 'commit'>;
  readonly clock: Clock;
  /** Folder of the built pages. Default: that of the package. */
  readonly folder?: string;
}

const API = `${CONSOLE_PATH}/api`;
/** Paths of the API below {@link API}, with the paths that they have without it. */
const HANDED_ON = /^\/(v1|v1beta|admin\/v1)\//;
/** Answered without a session: the page that asks is about to sign in. */
const PROVIDER = '/v1/account/sso';
/** Headers by which a page could speak for another key. */
const FOREIGN = ['cookie', 'x-api-key', 'x-native-api-key', 'x-goog-api-key'];
/** Headers that only the console reads. */
const OWN = [CSRF_HEADER, SESSION_HEADER];
/** Headers of every answer that is handed on: its content is no page of this origin. */
const NO_PAGE = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
};
/** Milliseconds: work that outlives a call may look up its key once more. */
const TICKET_REST_MS = 5_000;

/**
 * Opens the console: its pages, its sign-in, and the API for pages that are signed in, which is handed on
 * in this process to whatever serves the path without the prefix.
 */
export async function openConsole(deps: ConsoleDeps): Promise<ConsoleServer> {
  const files = await openConsoleFiles(deps.folder ?? packageFile('dist/console'));
  const sessions = createConsoleSessions(deps);
  const signInAudit = createSignInAudit({ audit: deps.repository.audit, clock: deps.clock });
  const api = { ...deps, sessions, signInAudit };
  const handleSession = createSessionHandler(api);
  const signInByProvider = createConsoleSignIn({
    ...deps,
    isByTls: ({ request }) =>
      isByTls(request.headers) || (request.socket as { encrypted?: boolean }).encrypted === true,
    makeLink: async (key) => (await sessions.makeLink({ key })).link,
  });
  const handOn = createHandOn(api);
  const readTogether = createReadTogether(deps, (path) => HANDED_ON.test(path));
  const handler: Handler = async (exchange) => {
    deps.guard(exchange.request);
    const { path, request } = exchange;
    if (path === `${API}/session`) return handleSession(exchange);
    if (path === SSO_PATH || path.startsWith(`${SSO_PATH}/`)) return signInByProvider(exchange);
    if (path === API + PROVIDER) return { status: 200, body: viewOf(deps.sso) };
    if (path === API || path.startsWith(`${API}/`))
      throw new GatewayError('not_found', { message: 'the console has no such path' });
    if (!['GET', 'HEAD'].includes(request.method ?? ''))
      throw new GatewayError('method_not_allowed', { headers: { allow: 'GET, HEAD' } });
    return files.answer(path.slice(CONSOLE_PATH.length), request.headers);
  };
  return async (request, response, serve) => {
    const target = (request.url ?? '').slice(API.length);
    const isTogether = request.method === 'GET' && target.startsWith(`${TOGETHER}?`);
    const isHandedOn =
      request.url?.startsWith(API) === true &&
      target !== PROVIDER &&
      (isTogether || HANDED_ON.test(target));
    const arrival = { request, response, envelope: 'resource' } as const;
    if (!isHandedOn) return answerInFront(arrival, handler, deps);
    try {
      await handOn(request, response);
    } catch (error) {
      return answerInFront(arrival, () => Promise.reject(error), deps);
    }
    if (isTogether) return answerInFront(arrival, readTogether, deps);
    serve(request, response);
  };
}

type HandOn = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Makes the call of a page one of the key that it signed in with; drops the page's credentials. */
function createHandOn(deps: ConsoleApiDeps & Pick<ConsoleDeps, 'clock' | 'guard'>): HandOn {
  const { sessions, tickets, lookup, clock } = deps;
  const streams = new OpenStreams({
    clock,
    isOver: async ({ secret, word }) => {
      const isOpen = async (): Promise<boolean> =>
        (await sessions.use(secret)) !== undefined && typeof (await lookup(word)) !== 'string';
      return !(await isOpen().catch(() => false));
    },
  });
  return async (request, response) => {
    deps.guard(request);
    const { key, value, secret } = await actingSession(request, deps);
    const { word, end } = tickets.issue({ key, value });
    onceClosed(response, () => void clock.setTimeout(end, TICKET_REST_MS));
    if (request.method === 'GET') streams.add({ response, secret, word });
    for (const name of [...FOREIGN, ...OWN]) delete request.headers[name];
    request.headers.authorization = `Bearer ${word}`;
    for (const [name, value] of Object.entries(NO_PAGE)) response.setHeader(name, value);
    request.url = (request.url ?? '').slice(API.length);
  };
}
