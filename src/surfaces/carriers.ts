import type { IncomingHttpHeaders } from 'node:http';
import type { Carrier } from '../protocols/family.ts';

const BEARER = /^bearer +(\S+) *$/i;

/**
 * The key of a request, or undefined when no carrier of the family holds one. An empty value, `Bearer`
 * without a token and other schemes count as no credential.
 */
export function readKey(
  carriers: readonly Carrier[],
  headers: IncomingHttpHeaders,
  search: string,
): string | undefined {
  for (const carrier of carriers) {
    const key = READERS[carrier](headers, search);
    if (key) return key;
  }
  return undefined;
}

type Reader = (headers: IncomingHttpHeaders, search: string) => string | undefined;

const READERS: Record<Carrier, Reader> = {
  bearer: ({ authorization }) => (authorization ? BEARER.exec(authorization)?.[1] : undefined),
  'x-api-key': (headers) => first(headers['x-api-key']),
  'google-header': (headers) =>
    first(headers['x-native-api-key']) || first(headers['x-goog-api-key']),
  'query-key': (_headers, search) => new URLSearchParams(search).get('key') ?? undefined,
};

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim();
}
