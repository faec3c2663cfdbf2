import { errors } from 'undici';
import { UpstreamError } from './transport.ts';
import type { UpstreamErrorKind } from './transport.ts';

/** What undici says when a server answers out of turn (a 100 or 101 that nobody asked for). */
const OUT_OF_TURN: ReadonlySet<string> = new Set(['bad response', 'bad upgrade']);

const TEXTS: Record<UpstreamErrorKind, string> = {
  connect: 'could not connect to the provider',
  reset: 'the provider closed the connection',
  protocol: 'the provider did not answer in HTTP',
  aborted: 'the request was aborted',
};

/**
 * Names what broke an exchange. The text holds no address, since it may end up in a log line beside
 * a client's request; the original error is the cause.
 */
export function toUpstreamError(thrown: unknown, sent: boolean): UpstreamError {
  const code = errorCode(thrown);
  const kind = kindOf(thrown, code, sent);
  return new UpstreamError(kind, code ? `${TEXTS[kind]} (${code})` : TEXTS[kind], {
    cause: thrown,
  });
}

/** The `code` of a Node or undici error. */
export function errorCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error && 'code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

function kindOf(thrown: unknown, code: string | undefined, sent: boolean): UpstreamErrorKind {
  if (!sent) return 'connect';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'protocol';
  // The parser has no data to show when it was the end of the connection that it did not expect.
  if (thrown instanceof errors.HTTPParserError) {
    return 'data' in thrown && thrown.data ? 'protocol' : 'reset';
  }
  return thrown instanceof Error && OUT_OF_TURN.has(thrown.message) ? 'protocol' : 'reset';
}
