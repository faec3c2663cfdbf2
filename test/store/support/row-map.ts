import type { LmdbEnvironment } from '../../../src/store/backends/lmdb/environment.ts';
import { fromRowBytes, type StoredRow } from '../../../src/store/backends/lmdb/rows.ts';
import { toId } from '../../../src/store/prepare-commit.ts';

type Tables = Pick<LmdbEnvironment, 'data' | 'expiry' | 'peek'>;
type Range = Partial<Record<'start', Buffer>> & { limit?: number; exclusiveStart?: boolean };

interface RowMap {
  /** Tables whose writes and conditions come at once. */
  readonly environment: LmdbEnvironment;
  /** Keys of the expiry table, in order. */
  marks(): Buffer[];
}

/** The tables of an embedded store, over maps. */
export function createRowMap(): RowMap {
  const rows = new Map<string, { bytes: Buffer; version: number }>();
  const marks = new Map<string, Buffer>();
  const where = async (holds: boolean, inner: () => void): Promise<boolean> => {
    if (holds) inner();
    return holds;
  };
  const sorted = (): Buffer[] => [...marks.values()].toSorted((a, b) => Buffer.compare(a, b));
  const data = {
    put: async (key: Buffer, bytes: Buffer, version: number) =>
      void rows.set(toId(key), { bytes, version }),
    remove: async (key: Buffer) => rows.delete(toId(key)),
    ifNoExists: (key: Buffer, inner: () => void) => where(!rows.has(toId(key)), inner),
    ifVersion: (key: Buffer, version: number, inner: () => void) =>
      where(rows.get(toId(key))?.version === version, inner),
  };
  const expiry = {
    put: async (mark: Buffer) => void marks.set(toId(mark), Buffer.from(mark)),
    remove: async (mark: Buffer) => marks.delete(toId(mark)),
    getKeys: ({ start, limit, exclusiveStart = false }: Range) =>
      sorted()
        .filter((mark) => {
          const order = start ? Buffer.compare(mark, start) : 1;
          return order > 0 || (order === 0 && !exclusiveStart);
        })
        .slice(0, limit),
  };
  const peek = (key: Buffer): StoredRow | undefined => {
    const row = rows.get(toId(key));
    return row && fromRowBytes(row.bytes, row.version);
  };
  const tables = { data, expiry, peek } as unknown as Tables;
  return { environment: tables as LmdbEnvironment, marks: sorted };
}
