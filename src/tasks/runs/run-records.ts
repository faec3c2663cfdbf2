import { Buffer } from 'node:buffer';
import type { Jobs } from '../../jobs/jobs.ts';
import type { Entry, Key, Op, Store } from '../../store/store.ts';
import { RUN_JOB } from './run-record.ts';
import type { RunRecord } from './run-record.ts';

export type RunEntry = Entry<RunRecord>;

/** Runs by organization: another one finds nothing. Rejects with `StoreError`. */
export interface RunRecords {
  find(organization: string, id: string): Promise<RunEntry | undefined>;
  /** Together with its input, the job that does it and `also`; durable when it resolves. */
  add(record: RunRecord, input: Buffer, also?: readonly Op[]): Promise<void>;
  /** Its input, or its output once it is over; undefined when there is none, or no longer. */
  content(record: RunRecord): Promise<Buffer | undefined>;
  /** The changed entry; undefined when somebody else changed it first. */
  change(entry: RunEntry, changes: Partial<RunRecord>): Promise<RunEntry | undefined>;
  /** The last change: its output takes the place of its input, and `also` happens with it. */
  end(entry: RunEntry, ending: RunEnding, also: readonly Op[]): Promise<RunEntry | undefined>;
  /** Calls `listener` after changes of the run; returns the function that stops it. */
  watch(organization: string, id: string, listener: () => void): () => void;
}

export interface RunEnding {
  readonly changes: Partial<RunRecord>;
  /** JSON; undefined where there is none. */
  readonly output: Buffer | undefined;
}

/** Well below the largest value that a store takes. */
const PIECE_BYTES = 8 * 1024 * 1024;
/** What a client sends as an id may be longer than a key. */
const MAX_ID_CHARS = 64;

/** @param keepMs how long a run that is over is kept; the store sweeps what is older */
export function createRunRecords(store: Store, jobs: Jobs, keepMs: number): RunRecords {
  return {
    find: (organization, id) => store.get<RunRecord>(keyOf(organization, id)),
    async add(record, input, also = []) {
      const { id, payer } = record;
      const organization = payer.organizationId;
      const { ok } = await store.commit([
        { type: 'put', key: keyOf(organization, id), value: record, ifAbsent: true },
        ...putPieces(id, input),
        ...jobs.toAdd({ kind: RUN_JOB, id, payload: { organization }, holder: organization }),
        ...also,
      ]);
      if (!ok) throw new Error(`the run ${id} exists already`);
    },
    content: ({ id, bytes }) => readPieces(store, id, bytes),
    async change({ key, value, version }, changes) {
      const next = { ...value, ...changes };
      const result = await store.commit([{ type: 'put', key, value: next, ifVersion: version }]);
      return result.ok ? { key, value: next, version: result.version } : undefined;
    },
    async end({ key, value, version }, { changes, output }, also) {
      const next: RunRecord = { ...value, ...changes, bytes: output?.length ?? 0 };
      const written = putPieces(value.id, output, keepMs);
      const result = await store.commit([
        { type: 'put', key, value: next, ifVersion: version, ttlMs: keepMs },
        ...written,
        ...pieceKeys(value.id, value.bytes)
          .slice(written.length)
          .map((piece): Op => ({ type: 'delete', key: piece })),
        ...also,
      ]);
      return result.ok ? { key, value: next, version: result.version } : undefined;
    },
    watch: (organization, id, listener) => store.watch(keyOf(organization, id), listener),
  };
}

const keyOf = (organization: string, id: string): Key => [
  'run',
  organization,
  id.slice(0, MAX_ID_CHARS),
];

function pieceKeys(id: string, bytes: number): Key[] {
  const count = Math.ceil(bytes / PIECE_BYTES);
  return Array.from({ length: count }, (_, index): Key => ['run-content', id, index]);
}

function putPieces(id: string, content: Buffer | undefined, ttlMs?: number): Op[] {
  return pieceKeys(id, content?.length ?? 0).map((key, index) => ({
    type: 'put',
    key,
    value: content?.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
    ...(ttlMs === undefined ? {} : { ttlMs }),
  }));
}

async function readPieces(store: Store, id: string, bytes: number): Promise<Buffer | undefined> {
  if (bytes === 0) return undefined;
  const found = await Promise.all(pieceKeys(id, bytes).map((key) => store.get<Uint8Array>(key)));
  const content = Buffer.concat(found.flatMap((piece) => (piece ? [piece.value] : [])));
  return content.length === bytes ? content : undefined;
}
