import type { Origin } from '../../audit/audit-entry.ts';
import type { Op } from '../../store/store.ts';

/** A resource as the store holds it. */
export interface Stored {
  id: string;
  kind: string;
  /** Owner of an organization's resource; null for the platform's own. */
  organization: string | null;
  /** The declared fields, normalised, without secrets. */
  spec: Spec;
  /** Sealed secrets by their paths. */
  sealed: Record<string, string>;
  /** State that the gateway itself keeps; never declared by anyone. */
  state: State;
  version: number;
  createdAt: string;
  updatedAt: string;
}

export type Spec = Record<string, unknown> & { name: string; labels: Record<string, string> };

export type State = Record<string, unknown>;

/** Object that a client sends. */
export type Body = Readonly<Record<string, unknown>>;

export interface Scope {
  /** Caller and its address. Default: the gateway itself. */
  by?: Origin | undefined;
  /** Owner of organization-scoped resources; null for callers that see all organizations. */
  organization: string | null;
  /**
   * Organization in which names of organization-scoped resources are looked up when `organization`
   * is null.
   */
  home?: string | undefined;
}

export interface ListQuery extends Scope {
  /** Id after which the page begins. */
  after?: string | undefined;
  /** Order by id; default: as the kind says. */
  order?: 'asc' | 'desc' | undefined;
  limit: number;
  /**
   * Ends the list after the row with which the result reaches so many characters of JSON, so that large rows
   * are not held all at once; the first always comes. Default: no bound.
   */
  maxSize?: number;
  matches(stored: Stored): boolean;
}

/** Change of a resource by the gateway itself. */
export interface Note {
  /** Name of it in the audit log, where it was requested. Default: it is not audited. */
  action?: string;
  state: State;
  spec?: Partial<Spec>;
  /** Further writes of the same commit. */
  ops?: Op[];
}

/** Ended by `archive`. */
export function isArchived({ state }: Stored): boolean {
  return typeof state['archived_at'] === 'string';
}
