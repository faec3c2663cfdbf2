import { isJsonObject } from '../../core/json/value.ts';
import type { StreamFailure } from '../protocol.ts';

/** Statuses of faults of the provider, by code; another candidate may do better. */
const PROVIDER_FAULTS: ReadonlyMap<string, number> = new Map([
  ['rate_limit_exceeded', 429],
  ['server_error', 500],
  ['vector_store_timeout', 504],
]);

/** Codes of faults of the request itself, at any provider. */
const CLIENT_FAULT =
  /^(?:invalid_|image_|empty_image|failed_to_download_image|unsupported_|context_length_|string_above_|bio_policy|misalignment_policy|content_policy)/;

/** Reads `response.error`, an `error` event or an error object. */
export function toResponsesFailure(error: unknown): StreamFailure {
  const fields = isJsonObject(error) ? error : {};
  const { message, code, type, param } = fields;
  const name = typeof code === 'number' ? String(code) : code;
  const status = statusOf(name) ?? statusOf(type);
  return {
    kind: 'error',
    message: typeof message === 'string' ? message : '',
    ...(typeof name === 'string' ? { code: name } : {}),
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof param === 'string' ? { param } : {}),
    ...(status === undefined ? {} : { status }),
  };
}

/** True when a Response says that its provider failed it, so that another one may be asked. */
export function isProviderFailure({ status, error }: Readonly<Record<string, unknown>>): boolean {
  return status === 'failed' && (toResponsesFailure(error).status ?? 500) !== 400;
}

function statusOf(code: unknown): number | undefined {
  if (typeof code !== 'string') return undefined;
  if (/^[45]\d\d$/.test(code)) return Number(code);
  return PROVIDER_FAULTS.get(code) ?? (CLIENT_FAULT.test(code) ? 400 : undefined);
}
