import { describe, expect, it } from 'vitest';
import { toDeadline } from '../../../src/core/time/deadline.ts';
import {
  correctExpiries,
  type Expiring,
  type ExpiringPage,
  type ExpiryChange,
} from '../../../src/store/remote-expiries.ts';

const NOW = Date.UTC(2026, 10, 21);
const MINUTE = 60_000;
const AHEAD = toDeadline(NOW + 60 * MINUTE, MINUTE);
const OWN = toDeadline(NOW, 60 * MINUTE);

/** An index of these rows, in pages. */
function indexOf(rows: readonly Expiring[]) {
  const asked: ExpiringPage[] = [];
  const batches: (readonly ExpiryChange[])[] = [];
  const expiries = {
    async list(page: ExpiringPage) {
      asked.push(page);
      return rows.slice(page.skip, page.skip + page.limit);
    },
    async change(changes: readonly ExpiryChange[]) {
      batches.push(changes);
    },
  };
  return { asked, batches, expiries };
}

const rowsOf = (count: number, expiresAt: number): Expiring[] =>
  Array.from({ length: count }, (_, n) => ({ bytes: Buffer.from(String(n)), expiresAt }));

describe('correcting the expiries of a database', () => {
  it('gives a row of a clock that was ahead its length from now on, and leaves the others', async () => {
    const [ahead, own] = [rowsOf(1, AHEAD), rowsOf(1, OWN)];
    const { batches, expiries } = indexOf([...own, ...ahead]);
    await correctExpiries(expiries, NOW);
    expect(batches).toEqual([
      [{ bytes: Buffer.from('0'), before: AHEAD, expiresAt: toDeadline(NOW, MINUTE) }],
    ]);
  });

  it('changes nothing where nothing was ahead', async () => {
    const { batches, expiries } = indexOf(rowsOf(3, OWN));
    await correctExpiries(expiries, NOW);
    expect(batches).toEqual([]);
  });

  it.each([
    [999, [0]],
    [1_000, [0, 1_000]],
    [2_001, [0, 1_000, 2_000]],
  ])('reads %d rows a thousand at a time, until a page is short', async (count, skips) => {
    const { asked, expiries } = indexOf(rowsOf(count, OWN));
    await correctExpiries(expiries, NOW);
    expect(asked).toEqual(skips.map((skip) => ({ from: NOW, skip, limit: 1_000 })));
  });

  it('changes a thousand rows at a time, each once', async () => {
    const { batches, expiries } = indexOf(rowsOf(2_001, AHEAD));
    await correctExpiries(expiries, NOW);
    expect(batches.map((batch) => batch.length)).toEqual([1_000, 1_000, 1]);
    expect(new Set(batches.flat().map(({ bytes }) => String(bytes))).size).toBe(2_001);
  });
});
