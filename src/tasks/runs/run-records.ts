import { Buffer } from 'node:buffer';
import type { Jobs } from '../../jobs/jobs.ts';
import type { Entry, Key, Op, Store } from '../../store/store.ts';
import { OWN_ID } from '../identity.ts';
import { createTaskRows } from '../task-rows.ts';
import type { TaskRows } from '../task-rows.ts';
import { isOver, RUN_JOB } from './run-record.ts';
import type { RunRecord } from './run-record.ts';

export type RunEntry = Entry<RunRecord>;

/** Runs by organization. Rejects with `StoreError`. */
export interface RunRecords extends Pick<TaskRows<RunRecord>, 'find' | 'watch'> {
  /** Stores a run with its input, its job and `also`; durable when it resolves. */
  add(record: RunRecord, input: Buffer, also?: readonly Op[]): Promise<void>;
  /** Its input, or its output once it is over; undefined when there is none, or no longer. */
  content(record: RunRecord): Promise<Buffer | undefined>;
  /** The changed entry; undefined when another process changed it first. */
  change(entry: RunEntry, changes: Partial<RunRecord>): Promise<RunEntry | undefined>;
  /** The last change: its output takes the place of its input, and `also` happens with it. */
  end(entry: RunEntry, ending: RunEnding, also: readonly Op[]): Promise<RunEntry | undefined>;
}

export interface RunEnding {
  readonly changes: Partial<RunRecord>;
  /** JSON; undefined where there is none. */
  readonly output: Buffer | undefined;
}

/** Well below the largest value that a store takes. */
const PIECE_BYTES = 8 * 1024 * 1024;

/** @param keepMs how long a run that is over is kept; the store sweeps older ones */
export function createRunRecords(store: Store, jobs: Jobs, keepMs: number): RunRecords {
  const rows = createTaskRows<RunRecord>({
    store,
    prefix: 'run',
    ownerOf: OWN_ID.ownerOf,
    keyOf: OWN_ID.keyOf,
    ttlOf: (record) => (isOver(record) ? keepMs : undefined),
  });
  return {
    find: rows.find,
    watch: rows.watch,
    async add(record, input, also = []) {
      const { id, payer } = record;
      const organization = payer.organizationId;
      const { ok } = await store.commit([
        { ...rows.toPut(record), ifAbsent: true },
        ...putPieces(id, input),
        ...jobs.toAdd({ kind: RUN_JOB, id, payload: { organization }, holder: organization }),
        ...also,
      ]);
      if (!ok) throw new Error(`the run ${id} exists already`);
    },
    content: ({ id, bytes }) => readPieces(store, id, bytes),
    change: (entry, changes) => rows.change(entry, changes),
    end(entry, { changes, output }, also) {
      const { id, bytes } = entry.value;
      const written = putPieces(id, output, keepMs);
      const spent = pieceKeys(id, bytes)
        .slice(written.length)
        .map((key): Op => ({ type: 'delete', key }));
      const ending = { ...changes, bytes: output?.length ?? 0 };
      return rows.change(entry, ending, [...written, ...spent, ...also]);
    },
  };
}

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
