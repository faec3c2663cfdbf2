import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toDeadline } from '../../../src/core/time/deadline.ts';
import { encodeKey } from '../../../src/store/key-codec.ts';
import { toId } from '../../../src/store/prepare-commit.ts';
import type { Key } from '../../../src/store/store.ts';
import { createTable, toEntry, type Row } from '../../../src/store/table.ts';
import { toEnvelope } from '../../../src/store/value-codec.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const MINUTE = 60_000;
const idOf = (key: Key): string => toId(encodeKey(key));
const rowOf = (value: unknown, expiresAt = Infinity, version = 1): Row => ({
  envelope: toEnvelope(value),
  version,
  expiresAt,
});

function filled(rows: readonly [Key, Row][]) {
  const clock = createFakeClock();
  const table = createTable(clock);
  table.apply(new Map(rows.map(([key, row]) => [idOf(key), row])));
  return { clock, table };
}

describe('a table', () => {
  it('shows a row until the instant of its expiry, and not at it', () => {
    const { clock, table } = filled([]);
    const soon = clock.now() + 1_000;
    table.apply(new Map([[idOf(['a', 1]), rowOf('x', soon)]]));
    const seen = () => [
      table.get(idOf(['a', 1]))?.expiresAt,
      table.list({ prefix: ['a'] }).length,
      table.rows().length,
    ];
    clock.advance(999);
    expect(seen()).toEqual([soon, 1, 1]);
    clock.advance(1);
    expect(seen()).toEqual([undefined, 0, 0]);
  });

  it('lists entries with their keys, values and versions, in either order', () => {
    const { table } = filled([
      [['a', 2], rowOf({ n: 2 }, Infinity, 8)],
      [['a', 1], rowOf('one', Infinity, 7)],
      [['b', 1], rowOf('other')],
    ]);
    const entries = [
      { key: ['a', 1], value: 'one', version: '7' },
      { key: ['a', 2], value: { n: 2 }, version: '8' },
    ];
    expect(table.list({ prefix: ['a'] })).toEqual(entries);
    expect(table.list({ prefix: ['a'], reverse: true })).toEqual(entries.toReversed());
    expect(table.list({ prefix: ['a'], limit: 1 })).toEqual(entries.slice(0, 1));
    expect(table.list({ prefix: ['a'], after: ['a', 1] })).toEqual(entries.slice(1));
    expect(toEntry(idOf(['a', 1]), rowOf('one', Infinity, 7))).toEqual(entries[0]);
  });

  it('ends a list behind the row that reaches its bytes, and counts no expired row', () => {
    const { clock, table } = filled([]);
    const size = toEnvelope('xxxx').length;
    const rows = [1, 2, 3, 4].map((n): [string, Row] => [idOf(['a', n]), rowOf('xxxx')]);
    table.apply(new Map([[idOf(['a', 0]), rowOf('xxxx', clock.now())], ...rows]));
    const count = (maxBytes: number): number => table.list({ prefix: ['a'], maxBytes }).length;
    expect([1, size, size + 1, 2 * size, 2 * size + 1].map(count)).toEqual([1, 1, 2, 2, 3]);
    expect(table.list({ prefix: ['a'], limit: 2 }).map(({ key }) => key[1])).toEqual([1, 2]);
  });

  it('is the same as the plain rows, whatever was put, deleted and swept', () => {
    const step = fc.record({
      n: fc.nat(6),
      what: fc.constantFrom('stay', 'expire', 'delete', 'sweep', 'wait'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { clock, table } = filled([]);
        const model = new Map<number, { value: number; expiresAt: number }>();
        for (const [value, { n, what }] of steps.entries()) {
          if (what === 'wait') clock.advance(n * 10);
          else if (what === 'sweep') table.sweep(n + 1);
          else if (what === 'delete') {
            model.delete(n);
            table.apply(new Map([[idOf(['k', n]), undefined]]));
          } else {
            const expiresAt = what === 'stay' ? Infinity : clock.now() + 20;
            model.set(n, { value, expiresAt });
            table.apply(new Map([[idOf(['k', n]), rowOf(value, expiresAt)]]));
          }
          const alive = [...model]
            .filter(([, { expiresAt }]) => expiresAt > clock.now())
            .toSorted(([a], [b]) => a - b)
            .map(([n, { value }]) => [n, value]);
          const listed = table.list({ prefix: ['k'] }).map(({ key, value }) => [key[1], value]);
          expect(listed).toEqual(alive);
        }
      }),
    );
  });

  it('finds rows of a clock that was ahead, with their length from now on', () => {
    const { clock, table } = filled([]);
    const now = clock.now();
    const ahead = toDeadline(now + 10 * MINUTE, MINUTE);
    const rows: [string, Row][] = [
      [idOf(['ahead']), rowOf(1, ahead, 5)],
      [idOf(['own']), rowOf(2, toDeadline(now, MINUTE))],
      [idOf(['late']), rowOf(3, toDeadline(now, 30 * MINUTE))],
      [idOf(['stays']), rowOf(4)],
    ];
    table.apply(new Map(rows));
    expect(table.ahead(now)).toEqual(
      new Map([[idOf(['ahead']), rowOf(1, toDeadline(now, MINUTE), 5)]]),
    );
    expect(table.get(idOf(['ahead']))?.expiresAt).toBe(ahead);
    table.apply(table.ahead(now));
    expect(table.ahead(now).size).toBe(0);
    clock.advance(MINUTE);
    expect(table.list({ prefix: [] }).map(({ key }) => key[0])).toEqual(['late', 'stays']);
  });
});
