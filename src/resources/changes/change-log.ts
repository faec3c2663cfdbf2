import { LaneHeads } from '../../store/lanes/lane-heads.ts';
import type { CommitResult, Key, Op, Store, Version } from '../../store/store.ts';
import {
  CHANGE_HEADS,
  changeHeadKey,
  changeKey,
  changePrefix,
  EPOCH_KEY,
  resourcePrefix,
} from '../store/storage-keys.ts';

/** A resource that was made, changed or removed. */
export interface ChangedRow {
  readonly kind: string;
  readonly id: string;
}

/** Rows that differ from the known ones; `everything` where the log does not reach back so far. */
export type Changes = readonly ChangedRow[] | 'everything';

/** Position of a reader in the log. */
export interface LogPosition {
  /** Version of the epoch row. */
  readonly epoch: Version | undefined;
  /** Number of the last change of each lane. */
  readonly heads: ReadonlyMap<number, number>;
}

/**
 * Number of commits of one process that are under way at once. Each takes a lane, in which the changes are
 * numbered without a gap, so that a reader knows whether it has seen all of them.
 */
const LANES = 32;
/** Number of changes of a lane that stay readable. */
export const KEPT_CHANGES = 1_024;

interface ChangeOptions {
  readonly heldEpoch?: Version | undefined;
  /** Commits in place of the store, perhaps with further operations. */
  readonly commit?: (ops: readonly Op[]) => Promise<CommitResult>;
}

/** Writes with each change of resources which rows it changes. */
export class ChangeLog {
  readonly #store: Store;
  readonly #heads: LaneHeads<number>;

  constructor(store: Store) {
    this.#store = store;
    this.#heads = new LaneHeads({ store, lanes: LANES, first: 0, keyOf: changeHeadKey });
  }

  /**
   * Commits the operations and notes which resources they concern. Gives the key in whose way another
   * writer came, or undefined when all is written; with `heldEpoch` any other change is in the way.
   */
  async commit(
    ops: readonly Op[],
    { heldEpoch, commit = (all) => this.#store.commit(all) }: ChangeOptions = {},
  ): Promise<Key | undefined> {
    const held = heldEpoch === undefined ? {} : { ifVersion: heldEpoch };
    const result = await this.#heads.write((lane, last) => {
      const number = last + 1;
      const value = { number, rows: rowsOf(ops) };
      return {
        ops: [
          ...ops,
          { type: 'put', key: EPOCH_KEY, value: { lane, number }, ...held },
          { type: 'put', key: changeKey(lane, slotOf(number)), value },
        ],
        next: number,
      };
    }, commit);
    return result.ok ? undefined : result.conflict;
  }
}

/** Reads what changed since a position; without one that is everything. */
export async function readChanges(
  store: Store,
  from: LogPosition | undefined,
): Promise<{ position: LogPosition; changes: Changes }> {
  const epoch = await store.get<{ lane?: number; number?: number }>(EPOCH_KEY);
  if (from && epoch?.version === from.epoch) return { position: from, changes: [] };
  const found = await store.list<number>({ prefix: CHANGE_HEADS, limit: LANES });
  const heads = new Map(found.map(({ key, value }) => [Number(key.at(-1)), value]));
  const position = { epoch: epoch?.version, heads };
  const { lane = -1, number = Infinity } = epoch?.value ?? {};
  // A change of an older gateway is in no lane.
  if (!from || (heads.get(lane) ?? 0) < number) return { position, changes: 'everything' };
  const read = await Promise.all(
    [...heads].map(([at, last]) => readLane(store, at, { after: from.heads.get(at) ?? 0, last })),
  );
  const rows = new Map<string, ChangedRow>();
  for (const changed of read) {
    if (changed === 'everything') return { position, changes: changed };
    for (const row of changed) rows.set(`${row.kind} ${row.id}`, row);
  }
  return { position, changes: [...rows.values()] };
}

interface StoredChange {
  readonly number: number;
  readonly rows: readonly (readonly [kind: string, id: string])[];
}

/** The changes of a lane after the number `after`, as far as `last`. */
async function readLane(
  store: Store,
  lane: number,
  { after, last }: { after: number; last: number },
): Promise<Changes> {
  if (last < after || last - after > KEPT_CHANGES) return 'everything';
  const rows: ChangedRow[] = [];
  let next = after + 1;
  while (next <= last) {
    const slot = slotOf(next);
    const limit = Math.min(last - next + 1, KEPT_CHANGES - slot);
    const behind = slot === 0 ? {} : { after: changeKey(lane, slot - 1) };
    const page = await store.list<StoredChange>({ prefix: changePrefix(lane), limit, ...behind });
    for (const { value } of page) {
      // Written over by a newer one, or not there.
      if (value.number !== next) return 'everything';
      rows.push(...value.rows.map(([kind, id]) => ({ kind, id })));
      next += 1;
    }
    if (page.length < limit) return 'everything';
  }
  return rows;
}

function slotOf(number: number): number {
  return number % KEPT_CHANGES;
}

function rowsOf(ops: readonly Op[]): StoredChange['rows'] {
  const [room] = resourcePrefix;
  return ops.flatMap(({ type, key: [first, kind, id] }) =>
    type !== 'check' && first === room ? [[String(kind), String(id)] as const] : [],
  );
}
