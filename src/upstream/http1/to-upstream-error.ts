import { proxyIn } from '../proxy/proxy-error.ts';
import { UpstreamError } from '../transport.ts';
import { alertIn, certificateIn } from './refused-certificate.ts';
import type { RefusedAnswer, UpstreamErrorKind } from '../transport.ts';

/** An owner of connection slots reports that a call waited for its own. */
type Kind = Exclude<UpstreamErrorKind, 'waiting'>;

const TEXTS: Record<Kind, string> = {
  connect: 'could not connect to the provider',
  reset: 'the provider closed the connection',
  protocol: 'the provider did not answer in HTTP',
  encoding: 'the provider answered in a content coding that was not asked for',
  aborted: 'the request was aborted',
};

/**
 * Names what broke an exchange. The text holds no address, since it may end up in a log line with a client's
 * request; the original error is the cause. `note` is for operators, as the code is.
 */
export function toUpstreamError(kind: Kind, cause?: unknown, note?: string): UpstreamError {
  const code = errorCode(cause);
  const parts = [code, certificateIn(cause), alertIn(code), code && proxyIn(cause), note];
  const detail = parts.filter(Boolean).join(', ') || undefined;
  return new UpstreamError(kind, code ? `${TEXTS[kind]} (${code})` : TEXTS[kind], {
    cause,
    detail,
  });
}

/** An answer that breaks RFC 9112 or a bound; `detail` quotes nothing of it. */
export function protocolError(detail: string): UpstreamError {
  return new UpstreamError('protocol', `${TEXTS.protocol} (${detail})`);
}

/** An answer in a content coding that its request did not offer. */
export function codingError(answer: RefusedAnswer): UpstreamError {
  return new UpstreamError('encoding', TEXTS.encoding, { answer });
}

function errorCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error && 'code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
