import type { ErrorCode } from '../../core/errors.ts';
import type { ExchangeDeps } from '../../surfaces/http-exchange.ts';
import type { Refusals } from '../../usage/requests/refusals.ts';

/** Refusals of a credential. Requests without one are left out: any client can send them. */
const OF_CREDENTIALS: ReadonlySet<ErrorCode> = new Set([
  'invalid_api_key',
  'api_key_revoked',
  'api_key_expired',
]);

/** Step of a path that names a resource or an operation; ids do not match. */
const NAME = /^[a-z][a-z_-]{0,31}$/;

/** Leaves a record of refused credentials on paths that call no model; the others do so themselves. */
export function noteRefused(refusals: Pick<Refusals, 'note' | 'has'>): ExchangeDeps['onRefused'] {
  return ({ id, at, startedAt, path }, error) => {
    if (!OF_CREDENTIALS.has(error.code) || refusals.has(error)) return;
    const surface = surfaceOf(path);
    refusals.note({
      id,
      at,
      startedAt,
      surface,
      model: '',
      stream: false,
      told: error,
      cause: error,
    });
  };
}

/** `/v1/files/file_1` is `files`, `/admin/v1/keys` is `admin`. */
function surfaceOf(path: string): string {
  return path.split('/').find((step) => NAME.test(step)) ?? 'other';
}
