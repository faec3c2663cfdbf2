import type { HttpExchange } from './http-exchange.ts';

/** Where the client reaches the gateway, as far as it says so: scheme and host. */
export function clientOrigin({ request: { headers, socket } }: HttpExchange): string {
  const isTls = 'encrypted' in socket || headers['x-forwarded-proto'] === 'https';
  return `${isTls ? 'https' : 'http'}://${headers.host ?? 'localhost'}`;
}
