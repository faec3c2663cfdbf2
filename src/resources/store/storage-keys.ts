import type { Key } from '../../store/store.ts';

export const EPOCH_PREFIX: Key = ['resource-epoch'];
/** Written by every change of any resource, so that watchers know whether they are up to date. */
export const EPOCH_KEY: Key = ['resource-epoch', 'now'];

/** Number of the last change of each lane of the log. */
export const CHANGE_HEADS: Key = ['resource-change-head'];
export const changeHeadKey = (lane: number): Key => [...CHANGE_HEADS, lane];
/** Changes of a lane; a slot holds the newest of those that fall on it. */
export const changePrefix = (lane: number): Key => ['resource-change', lane];
export const changeKey = (lane: number, slot: number): Key => [...changePrefix(lane), slot];

export const resourcePrefix: Key = ['resource'];
export const kindPrefix = (kind: string): Key => [...resourcePrefix, kind];
export const resourceKey = (kind: string, id: string): Key => [...kindPrefix(kind), id];

/** Kind of the price list in the log of changes; it is no resource. */
export const PRICE_LIST_KIND = 'price_list';
/** List of prices that is used in place of the shipped one. */
export const PRICE_LIST_KEY: Key = resourceKey(PRICE_LIST_KIND, 'kept');

/** The natural key; holds the id. */
export const nameKey = (kind: string, organization: string | null, name: string): Key =>
  uniqueKey({ kind, organization }, 'name', name);

/** A value that one resource of the organization can have; holds its id. */
export const uniqueKey = (
  { kind, organization }: { kind: string; organization: string | null },
  field: string,
  value: string,
): Key => [`resource-${field}`, kind, organization ?? '', value];

/** The resources of one organization in the order of their ids; holds nothing. */
export const ownedPrefix = (kind: string, organization: string): Key => [
  'resource-of',
  kind,
  organization,
];
export const ownedKey = (kind: string, organization: string, id: string): Key => [
  ...ownedPrefix(kind, organization),
  id,
];

/** A resource as it was at a version. */
export const versionPrefix = (kind: string, id: string): Key => ['resource-version', kind, id];
export const versionKey = (kind: string, id: string, version: number): Key => [
  ...versionPrefix(kind, id),
  version,
];

/** Finds an API key by its hash; holds the id. */
export const keyHashKey = (hash: string): Key => ['key-hash', hash];

/** A version of a Skill; its files lie below {@link contentKey} of the version. */
export const skillVersionPrefix = (skill: string): Key => ['skill-version', skill];
export const skillVersionKey = (skill: string, version: string): Key => [
  ...skillVersionPrefix(skill),
  version,
];
