import type { AuditQuery } from '../../audit/read-audit.ts';
import { GatewayError } from '../../core/errors.ts';
import { queryCount } from '../../core/query-count.ts';
import type { RequestQuery } from '../../usage/requests/request-log.ts';

const MAX_ID = 256;
const RESULTS = ['ok', 'error', 'aborted', 'interrupted', 'pending'] as const;

/** `organization`, `key`, `model`, `provider`, `conversation`, `status` (HTTP status or result), `from`, `to`, `limit`, `page`. */
export function toRequestQuery(search: string): RequestQuery {
  const query = new URLSearchParams(search);
  const status = query.get('status') || undefined;
  return {
    organization: owner(query),
    key: query.get('key') ?? undefined,
    model: query.get('model') ?? undefined,
    provider: query.get('provider') ?? undefined,
    conversation: query.get('conversation') ?? undefined,
    status:
      status === undefined || /^\d{3}$/.test(status)
        ? status && Number(status)
        : oneOf(RESULTS, status, 'status'),
    from: instant(query, 'from'),
    to: instant(query, 'to'),
    limit: queryCount(query, 'limit'),
    page: query.get('page') || undefined,
  } as RequestQuery;
}

/**
 * `organization`, `actor`, `action`, `kind`, `object`, `request`, `from`, `to`, `limit`, `page`.
 */
export function toAuditQuery(search: string): AuditQuery {
  const query = new URLSearchParams(search);
  const text = (name: string) => query.get(name) || undefined;
  return {
    organization: owner(query),
    actor: text('actor'),
    action: text('action'),
    kind: text('kind'),
    object: text('object'),
    request: text('request'),
    from: instant(query, 'from'),
    to: instant(query, 'to'),
    limit: queryCount(query, 'limit'),
    page: text('page'),
  };
}

/** Rows are looked for by it, and keys of the store have an end. */
export function owner(query: URLSearchParams): string | undefined {
  const id = query.get('organization') ?? undefined;
  if (id === undefined || id.length <= MAX_ID) return id;
  const message = `organization: is longer than ${MAX_ID} characters`;
  throw new GatewayError('invalid_request', { message, param: 'organization' });
}

export function words(query: URLSearchParams, name: string): string[] {
  const values = [...query.getAll(name), ...query.getAll(`${name}[]`)];
  return values.flatMap((value) => value.split(',')).filter((word) => word !== '');
}

export function oneOf<T extends string>(allowed: readonly T[], word: string, param: string): T {
  const found = allowed.find((one) => one === word);
  if (found !== undefined) return found;
  throw new GatewayError('invalid_request', {
    message: `${param}: expected one of ${allowed.join(', ')}`,
    param,
  });
}

export function instant(query: URLSearchParams, param: string): number | undefined {
  const value = query.get(param);
  if (value === null || value === '') return undefined;
  const ms = Date.parse(value);
  if (!Number.isNaN(ms)) return ms;
  throw new GatewayError('invalid_request', {
    message: `${param}: expected an RFC 3339 time or a date`,
    param,
  });
}
