import type { HttpExchange } from './http-exchange.ts';

/** A public address that the operator declares wins over what requests say. */
export interface PublicAddress {
  /** `server.public_url`: no slash at its end. */
  readonly publicUrl: string | undefined;
}

/** Returns where the client reaches the gateway: the start of every absolute URL that it is given. */
export function clientAddress(exchange: HttpExchange, { publicUrl }: PublicAddress): string {
  return publicUrl ?? clientOrigin(exchange);
}

/**
 * Returns the scheme and host at which the client reaches the gateway, as far as the request names
 * them.
 */
function clientOrigin({ request: { headers, socket } }: HttpExchange): string {
  const isTls = 'encrypted' in socket || headers['x-forwarded-proto'] === 'https';
  return `${isTls ? 'https' : 'http'}://${headers.host ?? 'localhost'}`;
}
