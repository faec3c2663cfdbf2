import { ERRORS, GatewayError, toGatewayError } from '../core/errors.ts';
import { redactSecrets, toPublicMessage } from '../core/redact.ts';
import type { RequestPeek, StreamFailure } from '../protocols/protocol.ts';
import type { Route } from '../routing/catalog.ts';
import { classifyStatus } from '../upstream/classify.ts';
import type { Verdict } from '../upstream/classify.ts';
import { readErrorBody } from '../upstream/error-body.ts';
import { retryAfterMs } from '../upstream/retry-after.ts';
import type { RefusedAnswer, UpstreamError, UpstreamHeaders } from '../upstream/transport.ts';
import type { AttemptFailure } from './types.ts';
import type { Lapse } from './watchdog.ts';

const NO_DETAIL = { type: 'failed', upstreamStatus: null, retryAfterMs: undefined } as const;

/** The client went away: no error is sent and the candidate is not to blame. */
export function abortedFailure(isWaiting = false): AttemptFailure {
  return {
    ...NO_DETAIL,
    action: 'fatal',
    reason: isWaiting ? WAITING : 'client_gone',
    error: new GatewayError('upstream_interrupted', {
      message: 'the client closed the connection',
    }),
    fault: undefined,
  };
}

/** Reason of an attempt that was given up before there was a connection for it. */
export const WAITING = 'waiting_for_connection';

/** Nothing was sent, so the candidate is not to blame; `lapse` says which time was over, if one was. */
export function waitingFailure(lapse?: Lapse): AttemptFailure {
  return {
    ...NO_DETAIL,
    action: lapse === 'timeout_total' ? 'fatal' : 'next-candidate',
    reason: WAITING,
    error: new GatewayError('no_route_succeeded'),
    fault: undefined,
  };
}

/** The gateway is stopping and the drain time is over. */
export function shutdownFailure(): AttemptFailure {
  return {
    ...NO_DETAIL,
    action: 'fatal',
    reason: 'shutting_down',
    error: new GatewayError('shutting_down'),
    fault: undefined,
  };
}

/** Reason of a candidate that cannot serve the request and was not asked. */
export const UNSUPPORTED = 'unsupported';

/** The candidate cannot serve the request and was not asked. */
export function unsupportedFailure(error: GatewayError): AttemptFailure {
  return {
    ...NO_DETAIL,
    action: 'next-candidate',
    reason: UNSUPPORTED,
    error,
    fault: undefined,
  };
}

/**
 * True for what a reader throws on an answer that cannot be taken apart: deeper than the stack, or of
 * more members than the scanner takes. The provider is to blame for that, not the client.
 */
export function isUnreadable(thrown: unknown): boolean {
  if (thrown instanceof RangeError) return true;
  if (!(thrown instanceof GatewayError)) return false;
  return thrown.code === 'invalid_json' || thrown.code === 'invalid_request';
}

/** Something of ours threw: no other candidate would fare better. */
export function bugFailure(thrown: unknown): AttemptFailure {
  return {
    ...NO_DETAIL,
    action: 'fatal',
    reason: 'bug',
    error: toGatewayError(thrown),
    fault: undefined,
  };
}

/** The time of the call was over before this candidate was asked; one with more time may be. */
export function overdueFailure(): AttemptFailure {
  return {
    ...NO_DETAIL,
    action: 'next-candidate',
    reason: 'timeout_total',
    error: new GatewayError('upstream_timeout'),
    fault: undefined,
  };
}

/**
 * The provider may be at work still, and charge for it.
 *
 * @param hadTime false: those before it used up the time of the call, and it is not to blame
 */
export function lapseFailure(lapse: Lapse, hadTime: boolean): AttemptFailure {
  const total = lapse === 'timeout_total';
  return {
    ...NO_DETAIL,
    action: total ? 'fatal' : 'next-candidate',
    reason: lapse,
    error: new GatewayError(total ? 'upstream_timeout' : 'no_route_succeeded', {
      retry: false,
    }),
    fault: total && !hadTime ? undefined : 'server',
  };
}

/** A connection that could not be made may be tried again here; a broken one may have acted. */
export function transportFailure(error: UpstreamError, repeatable: boolean): AttemptFailure {
  if (error.kind === 'waiting') return waitingFailure();
  const mayHaveActed = error.kind === 'reset' || error.kind === 'protocol';
  return {
    ...NO_DETAIL,
    action:
      error.kind === 'connect'
        ? 'retry-here'
        : mayHaveActed && !repeatable
          ? 'fatal'
          : 'next-candidate',
    reason: error.kind,
    cause: error.detail,
    error: new GatewayError(
      mayHaveActed && !repeatable ? 'upstream_interrupted' : 'no_route_succeeded',
      {
        cause: error,
        retry: mayHaveActed ? false : undefined,
      },
    ),
    fault: 'server',
  };
}

/** A 2xx whose body is not an answer of the protocol. */
export function invalidAnswerFailure(reason: string, status: number): AttemptFailure {
  return {
    ...NO_DETAIL,
    action: 'next-candidate',
    reason,
    upstreamStatus: status,
    error: new GatewayError('invalid_upstream_response', { retry: false, type: reason }),
    fault: 'server',
  };
}

export interface UpstreamAnswer {
  status: number;
  headers: UpstreamHeaders;
  body: string;
}

/** An HTTP error of the provider. */
export function statusFailure(answer: UpstreamAnswer, route: Route, now: number): AttemptFailure {
  const { status } = answer;
  const verdict = classifyStatus(status, answer.body, route.provider.definition);
  if (route.provider.isLent && (verdict.cool || OF_CLIENT.has(status)) && status !== 407)
    return lentFailure(answer, verdict, route);
  const fatal = verdict.class === 'fatal';
  return {
    type: 'failed',
    action: verdict.class,
    reason: verdict.reason,
    upstreamStatus: status,
    error: fatal ? rejection(answer, route) : new GatewayError('no_route_succeeded'),
    fault: fatal
      ? undefined
      : verdict.cool
        ? 'credential'
        : status === 429
          ? 'rate'
          : faultOfStatus(status),
    retryAfterMs: retryAfterMs(answer.headers, now),
  };
}

/** Words of servers about a path that they do not know, in place of the thing that it names. */
const UNKNOWN_PATH = /^not found$|\b(?:url|endpoint|path|route)\b|^cannot (?:get|post|delete)\b/i;

/**
 * An answer that says that the provider lacks an endpoint which not every one of its protocol has; another one
 * may have it. Undefined where it has it.
 */
export function missingFailure(
  { status, body }: UpstreamAnswer,
  { nativeOnly, operation, question }: RequestPeek,
): AttemptFailure | undefined {
  if (!nativeOnly || (operation === undefined && !question)) return undefined;
  const { message = '', code, param } = readErrorBody(body);
  const isAbout = question
    ? !UNKNOWN_PATH.test(message)
    : (code !== undefined && code !== 'unknown_url') || param !== undefined;
  const isMissing = status === 404 && (!/^\s*\{/.test(body) || !isAbout);
  if (!isMissing && status !== 405 && status !== 501) return undefined;
  const told = `the provider of this model has no ${nativeOnly.name}`;
  const error = new GatewayError('unsupported_feature', { message: told });
  return { ...unsupportedFailure(error), reason: 'no_endpoint', upstreamStatus: status };
}

/**
 * An answer in a content coding that was not asked for. The body of an error says nothing, its status
 * and headers still do; nothing was done for it.
 */
export function codingFailure(
  { status, headers }: RefusedAnswer,
  route: Route,
  now: number,
): AttemptFailure {
  const reason = 'encoding_not_offered';
  const failure = invalidAnswerFailure(reason, status);
  if (status < 400) return failure;
  const { fault, retryAfterMs } = statusFailure({ status, headers, body: '' }, route, now);
  const error = new GatewayError('invalid_upstream_response', { type: reason });
  return { ...failure, error, fault, retryAfterMs };
}

/** Statuses of an account that is the client's own. */
const OF_CLIENT: ReadonlySet<number> = new Set([401, 402, 403, 429]);

/**
 * A provider that refuses the client's own credential: that is reported to its owner, and says nothing about the
 * route. Only a rate that is full leads to the next candidate.
 */
function lentFailure(
  answer: UpstreamAnswer,
  { cool, reason }: Verdict,
  route: Route,
): AttemptFailure {
  const { status } = answer;
  const isRate = status === 429 && !cool;
  const { message, providerCode, param } = rejection(answer, route);
  const told = { message, ...(providerCode && { providerCode }), ...(param && { param }) };
  return {
    ...NO_DETAIL,
    action: isRate ? 'next-candidate' : 'fatal',
    reason,
    upstreamStatus: status,
    error: isRate
      ? new GatewayError('provider_rate_limited', told)
      : new GatewayError('client_credential_refused', {
          ...told,
          status: OF_CLIENT.has(status) ? status : 401,
          retry: false,
        }),
    fault: undefined,
  };
}

/** A stream that announced its own failure, broke off or made no sense before its first content. */
export function streamFailure(failure: StreamFailure, route: Route): AttemptFailure {
  if (failure.kind !== 'error') return invalidAnswerFailure(`stream_${failure.kind}`, 200);
  const status = failure.status ?? 500;
  const { message, code, type, param } = failure;
  const body = JSON.stringify({ error: { message, code, type, param } });
  const answer = { status, headers: {}, body };
  return {
    ...statusFailure(answer, route, 0),
    reason: 'stream_error',
    upstreamStatus: 200,
    retryAfterMs: undefined,
  };
}

/** The provider's own words about a rejected request, without anything of ours or of its insides. */
function rejection({ status, body }: UpstreamAnswer, { provider }: Route): GatewayError {
  const { message = '', code, param } = readErrorBody(body);
  const { credential } = provider;
  const secrets = credential === undefined ? [] : [credential];
  const isPublic = (name: string | undefined): boolean =>
    name !== undefined && redactSecrets(name, secrets) === name;
  return new GatewayError('upstream_rejected', {
    status: toldStatus(status),
    message: toPublicMessage(message, { secrets }) || ERRORS.upstream_rejected.message,
    ...(isPublic(code) && { providerCode: code }),
    ...(isPublic(param) && { param }),
  });
}

/** A client would take 407 for its own proxy's, so one that a provider's rule lets through becomes 400. */
function toldStatus(status: number): number {
  return status === 407 ? 400 : status;
}

function faultOfStatus(status: number): 'server' | undefined {
  return status >= 500 || status === 408 ? 'server' : undefined;
}
