import { GatewayError } from '../core/errors.ts';
import type { Key, Op, Store } from '../store/store.ts';
import type { AssetType } from './sniff-media.ts';

/** Holder of the media of an asset. */
export type AssetHolder =
  | {
      readonly by: 'gateway';
      /** Media type as its bytes show. */
      readonly mediaType: string;
      /** Bytes. */
      readonly size: number;
      /** SHA-256, in hexadecimal. */
      readonly digest: string;
    }
  /** `account`: id of the provider account. */
  | { readonly by: 'provider'; readonly account: string };

/** A permanent media reference of an organization. */
export interface AssetRecord {
  /** `asset_…`, the gateway's own; no reference to it. */
  readonly id: string;
  readonly externalId: string;
  readonly organization: string;
  readonly type: AssetType;
  readonly name: string | null;
  /** Milliseconds since epoch. */
  readonly at: number;
  readonly holder: AssetHolder;
}

/** Assets by external id and organization: another one finds nothing. Rejects with `StoreError`. */
export interface AssetRecords {
  /** Durable when it resolves. @param ops of the same commit; throws `conflict` where one does not hold */
  add(record: AssetRecord, ops: readonly Op[], commit: Store['commit']): Promise<void>;
  find(organization: string, externalId: string): Promise<AssetRecord | undefined>;
  /** Finds it in any organization, for bearers of a link that the gateway signed. */
  findHeld(externalId: string): Promise<AssetRecord | undefined>;
}

export function createAssetRecords(store: Store): AssetRecords {
  return {
    async add(record, ops, commit) {
      const put: Op = { type: 'put', key: keyOf(record), value: record };
      if (!(await commit([put, ...ops])).ok) throw new GatewayError('conflict');
    },
    find: async (organization, externalId) =>
      (await store.get<AssetRecord>(keyOf({ organization, externalId })))?.value,
    async findHeld(externalId) {
      const prefix = ['asset', externalId.slice(0, MAX_ID_CHARS)];
      const entries = await store.list<AssetRecord>({ prefix, limit: 1 });
      return entries[0]?.value;
    },
  };
}

/** Most characters of an id; one that a client sends may be longer than a key. */
const MAX_ID_CHARS = 200;

function keyOf({
  externalId,
  organization,
}: Pick<AssetRecord, 'externalId' | 'organization'>): Key {
  return ['asset', externalId.slice(0, MAX_ID_CHARS), organization];
}
