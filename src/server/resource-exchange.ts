import { GatewayError } from '../core/errors.ts';
import type { ResourceRequest } from '../resources/handlers.ts';
import { readObject } from '../resources/parse-body.ts';
import type { HttpExchange } from '../surfaces/http-exchange.ts';
import { readBody } from '../surfaces/read-body.ts';

/** What a resource handler needs of an exchange, but for whom it acts. */
export function toResourceRequest(
  base: string,
  { request, path, search }: HttpExchange,
  maxBodyBytes: number,
): Omit<ResourceRequest, 'organization' | 'platform'> {
  return {
    method: request.method ?? 'GET',
    segments: segmentsBelow(base, path),
    query: new URLSearchParams(search),
    body: async (options) => readObject(await readBody(request, maxBodyBytes), options),
  };
}

/** Decoded path segments; an id or name may hold an encoded slash. */
export function segmentsBelow(base: string, path: string): string[] {
  try {
    return path
      .slice(base.length)
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent);
  } catch {
    throw new GatewayError('not_found', { message: 'no such path' });
  }
}
