/** Kind of who acts: a key, a person who signed in, the configuration file, or the gateway itself. */
export type ActorKind = 'key' | 'person' | 'file' | 'gateway';

/** Actor of a change, and the address that it came from. */
export interface Origin {
  readonly actor: {
    readonly kind: ActorKind;
    /** Null where the name is enough. */
    readonly id: string | null;
    readonly name: string;
  };
  readonly from: {
    /** Network address of the peer. */
    readonly address: string | null;
    /** User agent. */
    readonly client: string | null;
  };
  readonly requestId: string | null;
}

/** Origin of an action without a request. */
export const GATEWAY_ORIGIN: Origin = {
  actor: { kind: 'gateway', id: null, name: 'gateway' },
  from: { address: null, client: null },
  requestId: null,
};

/** One member that an action changed; null where it was or is not there. */
export interface FieldChange {
  readonly path: string;
  readonly old: unknown;
  readonly new: unknown;
}

/** An action as it is handed to the log. */
export interface AuditNote {
  readonly origin: Origin;
  /** `create`, `update`, `delete`, `sign_in`, `read`, or the name of an action of the kind. */
  readonly action: string;
  readonly object: {
    readonly kind: string;
    readonly id: string;
    readonly name: string | null;
  };
  /** Null for objects of the platform. */
  readonly organization: string | null;
  /** Secrets are masked already. */
  readonly changes: readonly FieldChange[];
}

/** An action as the log keeps it. */
export interface AuditEntry extends Omit<AuditNote, 'origin'> {
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
  readonly actor: Origin['actor'];
  readonly from: Origin['from'];
  readonly request_id: string | null;
  /** Its chain, and its number there; from 1, without a gap. */
  readonly chain: number;
  readonly number: number;
  /** SHA-256 of it and of the hash before it in its chain, in hexadecimal. */
  readonly hash: string;
}
