import type { Origin } from '../../audit/audit-entry.ts';
import type { ScopeName, Use } from '../../core/access.ts';
import type { NamedCall } from '../../store/named-call.ts';
import type { Dialect } from './dialect.ts';
import type { Body } from './stored.ts';

/** Rights of a caller, beyond what the call itself needs. */
export interface CallerRights {
  has(scope: ScopeName): boolean;
  may(use: Use): boolean;
}

export interface ResourceRequest {
  method: string;
  /** Decoded segments after the path of the kind: none, an id or name, or an id and an action. */
  segments: readonly string[];
  query: URLSearchParams;
  /** The object that was sent; an empty one for an empty body where `optional`. */
  body(options?: { optional: boolean }): Promise<Body>;
  /** Caller, as the audit log names it. */
  by: Origin;
  rights: CallerRights;
  /** Organization of the caller; owner of its new resources. */
  organization: string;
  /** True for callers that see every organization. */
  platform: boolean;
  /** Present where the client named the call. */
  named?: NamedCall | undefined;
  /** Absent for the gateway's own shape. */
  dialect?: Dialect | undefined;
}

export interface ResourceReply {
  status: number;
  body: object | Buffer;
  headers?: Record<string, string>;
}
