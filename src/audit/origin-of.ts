import type { IncomingMessage } from 'node:http';
import type { Origin } from './audit-entry.ts';

/** Longest user agent that is kept, in characters. */
const MAX_CLIENT = 200;

/** Request of an HTTP exchange, with the id in its answer. */
interface Call {
  readonly id: string;
  readonly request: Pick<IncomingMessage, 'socket' | 'headers'>;
}

/** Caller of an exchange, as the audit log names it. */
export function originOf(
  call: Call,
  { keyId, keyName }: { readonly keyId: string; readonly keyName: string },
): Origin {
  return { actor: { kind: 'key', id: keyId, name: keyName }, ...callOf(call) };
}

/** The same without who it is. */
export function callOf({ id, request }: Call): Pick<Origin, 'from' | 'requestId'> {
  return {
    from: {
      address: request.socket.remoteAddress ?? null,
      client: request.headers['user-agent']?.slice(0, MAX_CLIENT) ?? null,
    },
    requestId: id,
  };
}
