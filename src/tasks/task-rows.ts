import type { Entry, Key, Op, Store } from '../store/store.ts';
import type { RequestOrigin } from '../usage/origin.ts';
import type { PayingKey } from '../usage/principal.ts';
import type { Pricing } from '../usage/usage.ts';

/** Owner, provider and price of a task; the rows of every family of provider work hold these members. */
export interface TaskRecord {
  readonly id: string;
  readonly payer: PayingKey;
  /** Origin of the call that created it; absent: unknown. */
  readonly origin?: RequestOrigin | undefined;
  /** Creation, in milliseconds since epoch. */
  readonly at: number;
  /** Logical model that was asked for. */
  readonly model: string;
  /** Logical model that answered; another after a fallback. */
  readonly answeredBy: string;
  readonly provider: string;
  /** Id of the provider account. */
  readonly account: string;
  readonly upstreamModel: string;
  /** Prices of the day it was created. */
  readonly pricing: Pricing;
}

export interface TaskPage {
  /** Id after which the page begins. */
  after?: string | undefined;
  limit: number;
  /** Default: newest first. */
  oldestFirst?: boolean;
}

/** Rows of one family by owner: another owner finds nothing. Rejects with `StoreError`. */
export interface TaskRows<R> {
  find(owner: string, id: string): Promise<Entry<R> | undefined>;
  toPut(record: R): Extract<Op, { type: 'put' }>;
  /** Replaces the row that was there. */
  put(record: R): Promise<void>;
  /** The changed entry, committed together with `also`; undefined when another process changed it first. */
  change(entry: Entry<R>, changes: Partial<R>, also?: readonly Op[]): Promise<Entry<R> | undefined>;
  /** Rows in the order of their keys. */
  list(owner: string, page: TaskPage): Promise<R[]>;
  drop(entry: Entry<R>, commit?: Store['commit']): Promise<void>;
  /** Calls `listener` after changes of the row; returns the function that stops it. */
  watch(owner: string, id: string, listener: () => void): () => void;
}

export interface TaskRowsOptions<R> {
  readonly store: Store;
  /** First part of the keys. */
  readonly prefix: string;
  ownerOf(payer: PayingKey): string;
  /** Last part of a key. */
  keyOf(id: string): string;
  /** Milliseconds that a row is kept; undefined: until it is deleted. */
  ttlOf(record: R): number | undefined;
}

export function createTaskRows<R extends { readonly id: string; readonly payer: PayingKey }>({
  store,
  prefix,
  ownerOf,
  keyOf,
  ttlOf,
}: TaskRowsOptions<R>): TaskRows<R> {
  const toKey = (owner: string, id: string): Key => [prefix, owner, keyOf(id)];
  const toPut: TaskRows<R>['toPut'] = (value) => {
    const key = toKey(ownerOf(value.payer), value.id);
    const ttlMs = ttlOf(value);
    return { type: 'put', key, value, ...(ttlMs === undefined ? {} : { ttlMs }) };
  };
  return {
    toPut,
    async put(record) {
      await store.commit([toPut(record)]);
    },
    find: (owner, id) => store.get<R>(toKey(owner, id)),
    async change({ key, value, version }, changes, also = []) {
      const next = { ...value, ...changes };
      const result = await store.commit([{ ...toPut(next), ifVersion: version }, ...also]);
      return result.ok ? { key, value: next, version: result.version } : undefined;
    },
    async list(owner, { after, limit, oldestFirst = false }) {
      const entries = await store.list<R>({
        prefix: [prefix, owner],
        limit,
        reverse: !oldestFirst,
        ...(after === undefined ? {} : { after: toKey(owner, after) }),
      });
      return entries.map(({ value }) => value);
    },
    async drop({ key }, commit = store.commit.bind(store)) {
      await commit([{ type: 'delete', key }]);
    },
    watch: (owner, id, listener) => store.watch(toKey(owner, id), listener),
  };
}
