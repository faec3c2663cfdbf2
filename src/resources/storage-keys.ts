import type { Key } from '../store/store.ts';

export const EPOCH_PREFIX: Key = ['resource-epoch'];
/** Written by every change of any resource, so that watchers can tell whether they are up to date. */
export const EPOCH_KEY: Key = ['resource-epoch', 'now'];

export const kindPrefix = (kind: string): Key => ['resource', kind];
export const resourceKey = (kind: string, id: string): Key => ['resource', kind, id];

/** The natural key; holds the id. */
export const nameKey = (kind: string, organization: string | null, name: string): Key => [
  'resource-name',
  kind,
  organization ?? '',
  name,
];

/** Finds an API key by its hash; holds the id. */
export const keyHashKey = (hash: string): Key => ['key-hash', hash];
