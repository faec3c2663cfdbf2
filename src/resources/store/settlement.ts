import type { IdSource } from '../../core/ids.ts';
import type { Op, Store } from '../../store/store.ts';
import type { Body, Spec, State, Stored } from './stored.ts';

/** A new state of a resource, parsed but not yet complete. */
export interface Draft {
  readonly id: string;
  readonly organization: string | null;
  readonly spec: Spec;
  /** Undefined at creation. */
  readonly before: Stored | undefined;
  /** Body as sent. */
  readonly body: Body;
}

export interface Settlement {
  spec: Spec;
  /** Members of state to change. */
  state?: State;
  /** Further writes of the same commit. */
  ops?: Op[];
}

/** Other resources in the organization of a draft. */
export interface Lookup {
  readonly store: Pick<Store, 'get' | 'list'>;
  readonly ids: IdSource;
  /** RFC 3339. */
  readonly now: string;
  /**
   * Reads by id; the rows stay unchanged until the commit.
   *
   * @throws GatewayError `not_found`; `conflict` for an archived one
   */
  find(reference: { kind: string; target: string; path: string }): Promise<Stored>;
}
