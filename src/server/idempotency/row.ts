import { createHash } from 'node:crypto';
import type { Rights } from '../../core/access.ts';
import type { MadeThing } from '../../store/named-call.ts';
import type { Key } from '../../store/store.ts';
import type { CallWorker } from './workers.ts';

/** Name and scope of a call: no other call meets its records. */
export interface CallPlace {
  readonly organization: string;
  /** Id of the API key: one with fewer rights must not read what another was answered. */
  readonly key: string;
  readonly path: string;
  /** Name that the client gave the call. */
  readonly name: string;
  /** Milliseconds for which its answer is kept. */
  readonly keepMs: number;
  /**
   * Id of the request that began the call, where calls that are alike share a name. Such a call is known
   * until its client has the answer.
   */
  readonly call?: string;
}

/** One attempt at a call. */
export interface CallOwner extends CallWorker {
  /** `req_…`: tells attempts of one process apart. */
  readonly request: string;
}

/** Traces of a call whose answer is not known. */
export interface CallTrace {
  /** Id of the request that left them. */
  readonly request: string;
  /** Shows the outcome of the call. */
  readonly lookUp: string;
  /** Id of the object that it made in the store; absent: it acts outside the store. */
  readonly made?: MadeThing['id'];
}

export interface KeptHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly hasBody: boolean;
  /** Number of sealed parts that hold the body; null for one that was not kept. */
  readonly parts: number | null;
}

/** A name as it is stored: under way while it has neither an answer nor an unknown outcome. */
export interface NameRow {
  readonly fingerprint: string;
  /** Rights of the key when the call was made; absent in rows of earlier versions. */
  readonly rights?: Rights;
  /**
   * Attempt that makes the call, or that gives its answer to a client of {@link CallPlace.call}.
   * Null: no owner; a repeat continues it or gets the answer again. Absent where the call is over,
   * and in rows of earlier versions.
   */
  readonly owner?: CallOwner | null;
  readonly trace?: CallTrace;
  readonly answer?: KeptHead;
  /** True once a client was answered that the outcome of the call is unknown. */
  readonly isUnknown?: true;
}

/** Names and paths may be long; their digest is not. Calls that share a name lie below it. */
export function keyOf({ organization, key, path, name, call }: CallPlace): Key {
  const digest = createHash('sha256')
    .update(JSON.stringify([key, path, name]))
    .digest('base64url');
  return ['idempotency', organization, digest, ...(call === undefined ? [] : [call])];
}
