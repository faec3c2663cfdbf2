import { googleStatus as nameOf } from '../../protocols/google-status.ts';
import type { CassetteError } from './tape/cassette.ts';
import type { JsonObject } from './json.ts';

/** An error with everything that some protocol wants to know. */
export interface MockError {
  status: number;
  message: string;
  /** Type as scripted; undefined lets each protocol name it after the status. */
  type: string | undefined;
  code: string | number | null | undefined;
}

const OPENAI_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

export function toMockError(status: number, scripted: CassetteError = {}): MockError {
  const { message = `mock error ${status}`, type, code } = scripted;
  return { status, message, type, code };
}

export function toOpenAiError({ status, message, type, code }: MockError): JsonObject {
  const fallback = status < 500 ? 'invalid_request_error' : 'server_error';
  return {
    error: {
      message,
      type: type ?? OPENAI_TYPES[status] ?? fallback,
      param: null,
      code: code ?? null,
    },
  };
}

export function toMessagesError({ status, message, type }: MockError): JsonObject {
  const fallback = status < 500 ? 'invalid_request_error' : 'api_error';
  return { type: 'error', error: { type: type ?? MESSAGES_TYPES[status] ?? fallback, message } };
}

export function toGoogleError(error: MockError): JsonObject {
  const { status, message, code } = error;
  return { error: { code: code ?? status, message, status: googleStatus(error) } };
}

export function googleStatus({ status, type }: MockError): string {
  return type ?? nameOf(status);
}
