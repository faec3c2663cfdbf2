import { createSteadyClock } from '../../../src/core/time/steady-clock.ts';
import { defineBackend, type Backend } from '../../../src/store/backend.ts';
import { toId } from '../../../src/store/prepare-commit.ts';
import type { RawRow, RawStore, RawTarget } from '../../../src/store/raw/raw-store.ts';
import { takeStep } from '../../../src/store/raw/take-step.ts';
import type { StoreConfig } from '../../../src/store/store-config.ts';
import { assertWhole, type StoreMeta } from '../../../src/store/store-meta.ts';
import { createTableStore } from '../../../src/store/table-store.ts';
import { createTable, type Row } from '../../../src/store/table.ts';

/** What outlives a store of this backend: rows by their key, in the memory of the test. */
interface Shelf {
  readonly rows: Map<string, Row>;
  lastVersion: number;
  meta: StoreMeta;
}

/** A backend that no release has, declared as any other: what it keeps lies on shelves named by path. */
export function shelfBackend(): Backend {
  const shelves = new Map<string, Shelf>();
  const shelfOf = ({ path = '' }: StoreConfig): Shelf => {
    const meta = { identity: `shelf ${shelves.size}` };
    const shelf = shelves.get(path) ?? { rows: new Map(), lastVersion: 0, meta };
    shelves.set(path, shelf);
    return shelf;
  };
  return defineBackend({
    drivers: ['shelf'],
    scope: 'process',
    packages: [],
    place: { kind: 'folder', drivers: ['shelf'] },
    async open(config, { clock }) {
      const shelf = shelfOf(config);
      assertWhole(shelf.meta);
      const steady = createSteadyClock(clock);
      const table = createTable(steady);
      table.apply(shelf.rows);
      return createTableStore({
        driver: 'shelf',
        clock,
        steady,
        table,
        lastVersion: shelf.lastVersion,
        persist(changes, lastVersion) {
          for (const [id, row] of changes) {
            if (row) shelf.rows.set(id, row);
            else shelf.rows.delete(id);
          }
          shelf.lastVersion = lastVersion;
        },
        ping: async () => undefined,
        close: async () => undefined,
      });
    },
    raw: {
      open: async (config) => toRaw(shelfOf(config)),
      openTarget: async (config) => toTarget(shelfOf(config)),
    },
  });
}

function toRaw(shelf: Shelf): RawStore {
  const rows = (): RawRow[] =>
    Array.from(shelf.rows, ([id, row]) => ({ key: Buffer.from(id, 'latin1'), ...row })).toSorted(
      (a, b) => Buffer.compare(a.key, b.key),
    );
  return {
    driver: 'shelf',
    format: 1,
    meta: shelf.meta,
    lastVersion: async () => shelf.lastVersion,
    async read(after) {
      const all = rows();
      const start = after ? all.findIndex(({ key }) => Buffer.compare(key, after) > 0) : 0;
      return start < 0 ? [] : takeStep(all, start);
    },
    users: async () => [],
    faults: async () => [],
    close: async () => undefined,
  };
}

function toTarget(shelf: Shelf): RawTarget {
  return {
    ...toRaw(shelf),
    async begin(incoming) {
      shelf.rows.clear();
      shelf.meta = { ...shelf.meta, incoming };
    },
    async write(rows) {
      for (const { key, ...row } of rows) shelf.rows.set(toId(key), row);
    },
    async flush(lastVersion) {
      shelf.lastVersion = lastVersion;
    },
    async complete() {
      shelf.meta = { identity: shelf.meta.identity };
    },
  };
}
