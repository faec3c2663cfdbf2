import type { HttpExchange } from './http-exchange.ts';

/**
 * Returns the scheme and host at which the client reaches the gateway, as far as the request names
 * them.
 */
export function clientOrigin({ request: { headers, socket } }: HttpExchange): string {
  const isTls = 'encrypted' in socket || headers['x-forwarded-proto'] === 'https';
  return `${isTls ? 'https' : 'http'}://${headers.host ?? 'localhost'}`;
}
