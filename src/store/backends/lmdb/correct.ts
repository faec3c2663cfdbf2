import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../core/time/clock.ts';
import { correctDeadline } from '../../../core/time/deadline.ts';
import { putRow, type Settle, type UnitContext } from './commit-unit.ts';
import type { WriteUnit } from './group-writer.ts';
import { fromExpiryKey, toExpiryKey } from './rows.ts';

/** Expiring rows checked in one tick of the event loop. */
const STEP = 2_000;

interface Ahead {
  readonly mark: Buffer;
  readonly key: Buffer;
  /** The row to correct; undefined when the key was written again since. */
  readonly version: number | undefined;
  readonly expiresAt: number;
}

/** Rows whose expiry was written by a clock that was ahead, in steps that may hold none. */
export async function* findAhead(
  { environment }: UnitContext,
  clock: Pick<Clock, 'now'>,
): AsyncGenerator<Ahead[]> {
  for (let after: Buffer | undefined; ;) {
    const now = clock.now();
    const start = after ?? toExpiryKey(now, Buffer.alloc(0));
    const marks = [...environment.expiry.getKeys({ start, limit: STEP, exclusiveStart: true })];
    yield marks.flatMap((found): Ahead[] => {
      const mark = Buffer.from(found);
      const { expiresAt: given, key } = fromExpiryKey(mark);
      const expiresAt = correctDeadline(given, now);
      if (expiresAt === given) return [];
      const row = environment.peek(key);
      return [
        { mark, key, expiresAt, version: row?.expiresAt === given ? row.version : undefined },
      ];
    });
    const last = marks.at(-1);
    if (!last || marks.length < STEP) return;
    after = Buffer.from(last);
    await nextTurn();
  }
}

/** Writes each row with its corrected expiry and its own version, unless it was written since. */
export function createCorrectUnit(
  { environment }: UnitContext,
  ahead: readonly Ahead[],
  settle: Settle<void>,
): WriteUnit {
  const { data, expiry } = environment;
  return {
    size: 0,
    issue() {
      for (const { mark, key, version, expiresAt } of ahead) {
        void expiry.remove(mark);
        const row = version === undefined ? undefined : environment.peek(key);
        if (!row || row.version !== version) continue;
        const write = (): void =>
          putRow(environment, { bytes: key, envelope: row.envelope, expiresAt }, row.version);
        // The result does not matter; a failed commit is reported by the group.
        data.ifVersion(key, row.version, write).catch(() => undefined);
      }
      return [];
    },
    done() {
      settle.resolve();
      return [];
    },
    fail: settle.reject,
  };
}
