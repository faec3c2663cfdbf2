import type { Origin } from '../../audit/audit-entry.ts';
import type { HttpExchange } from '../../surfaces/http-exchange.ts';
import type { Principal } from '../../usage/principal.ts';

/** Longest user agent that is kept, in characters. */
const MAX_CLIENT = 200;

/** Caller of an exchange, as the audit log tells of it. */
export function originOf(
  { id, request }: Pick<HttpExchange, 'id' | 'request'>,
  { keyId, keyName }: Pick<Principal, 'keyId' | 'keyName'>,
): Origin {
  return {
    actor: { kind: 'key', id: keyId, name: keyName },
    from: {
      address: request.socket.remoteAddress ?? null,
      client: request.headers['user-agent']?.slice(0, MAX_CLIENT) ?? null,
    },
    requestId: id,
  };
}
