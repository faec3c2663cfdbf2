import type { AuditNote, Origin } from '../../audit/audit-entry.ts';
import type { AuditLog } from '../../audit/audit-log.ts';
import { callOf, originOf } from '../../audit/origin-of.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { HttpExchange } from '../../surfaces/http-exchange.ts';
import type { Principal } from '../../usage/principal.ts';
import type { SessionCommit } from './console-sessions.ts';

/** Way in which a browser signs in. */
export type SignInWay = 'key' | 'link';

export interface SignInAuditDeps {
  readonly audit: Pick<AuditLog, 'commit' | 'record'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Person who signs in or out; without an organization where the key has ended already. */
export interface Signing {
  readonly principal: Pick<Principal, 'keyId' | 'keyName'> & { organizationId?: string };
  readonly by?: SignInWay;
}

/** Entries of the audit log on sessions of the console. */
export interface SignInAudit {
  /** Commit of a session that begins or ends, together with its audit entry. */
  toCommit(action: 'sign_in' | 'sign_out', exchange: HttpExchange, signing: Signing): SessionCommit;
  /**
   * Notes a refused sign-in, at most {@link MAX_PER_MINUTE} in a minute and process; the next
   * entry has the number of those left out. Never rejects: the caller gets the refusal.
   */
  refused(exchange: HttpExchange, by: SignInWay, refusal: unknown): Promise<void>;
}

export const MAX_PER_MINUTE = 20;
const MINUTE_MS = 60_000;
const KIND = 'console_session';

export function createSignInAudit({ audit, clock }: SignInAuditDeps): SignInAudit {
  let minute = -1;
  let noted = 0;
  let left = 0;
  const mayNote = (): boolean => {
    const now = Math.floor(clock.monotonic() / MINUTE_MS);
    if (now !== minute) noted = 0;
    minute = now;
    return noted++ < MAX_PER_MINUTE;
  };
  return {
    toCommit:
      (action, exchange, { principal, by }) =>
      (ops, id) =>
        audit.commit(ops, {
          origin: originOf(exchange, principal),
          action,
          object: { kind: KIND, id, name: null },
          organization: principal.organizationId ?? null,
          changes: by ? [{ path: 'by', old: null, new: by }] : [],
        }),
    async refused(exchange, by, refusal) {
      // A refusal for the rate is no evidence about the key.
      if (!(refusal instanceof GatewayError) || ![401, 403].includes(refusal.status)) return;
      if (!mayNote()) {
        left++;
        return;
      }
      const told = { by, reason: refusal.code, ...(left > 0 && { left_out: left }) };
      left = 0;
      await audit.record(refusalNote(exchange, told)).catch(() => undefined);
    },
  };
}

function refusalNote(exchange: HttpExchange, told: Readonly<Record<string, unknown>>): AuditNote {
  const actor: Origin['actor'] = { kind: 'person', id: null, name: 'unknown' };
  return {
    origin: { actor, ...callOf(exchange) },
    action: 'sign_in_refused',
    object: { kind: KIND, id: exchange.id, name: null },
    organization: null,
    changes: Object.entries(told).map(([path, value]) => ({ path, old: null, new: value })),
  };
}
