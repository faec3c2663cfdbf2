import { isJsonObject, parseJson } from '../core/json/value.ts';

/** Provider's own error, in any of the usual shapes. */
export interface ToldError {
  readonly message: string | undefined;
  /** Code where it is a name that a client may branch on; Google calls it the status. */
  readonly code: string | undefined;
  /** Path of the member at fault. */
  readonly param: string | undefined;
  /** Codes, types and reasons in lower case: only the vendor's words, never a client's. */
  readonly names: ReadonlySet<string>;
}

/** Names with a letter in front: a number is the HTTP status, or means something to its vendor only. */
const NAME = /^[A-Za-z_][\w.[\]-]{0,127}$/;

const NOTHING: ToldError = {
  message: undefined,
  code: undefined,
  param: undefined,
  names: new Set(),
};

/** Reads an error body; one that is not JSON is the provider's own page and has no code. */
export function readErrorBody(body: string): ToldError {
  const parsed = parseJson(body);
  // Some of Google's addresses put the error into a list.
  const top: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isJsonObject(top)) return NOTHING;
  const error = isJsonObject(top['error']) ? top['error'] : undefined;
  const messages = [error ? error['message'] : top['error'], top['message'], top['detail']];
  return {
    message: messages.find((one): one is string => typeof one === 'string' && one.trim() !== ''),
    code: nameOf(error?.['code']) ?? nameOf(top['code']) ?? nameOf(error?.['status']),
    param: nameOf(error?.['param']) ?? nameOf(top['param']),
    names: namesOf([top, error ?? {}, ...detailsOf(error)]),
  };
}

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && NAME.test(value) ? value : undefined;
}

function detailsOf(error: Readonly<Record<string, unknown>> | undefined) {
  const details = error?.['details'];
  return Array.isArray(details) ? details.filter(isJsonObject) : [];
}

function namesOf(parts: readonly Readonly<Record<string, unknown>>[]): Set<string> {
  const values = parts.flatMap(({ code, type, reason }) => [code, type, reason]);
  return new Set(values.filter((one) => typeof one === 'string').map((one) => one.toLowerCase()));
}
