import { expect, it } from 'vitest';
import { createIdSource } from '../../../../src/core/ids.ts';
import {
  LATE_MS,
  marksBehind,
  readCursor,
  tailOf,
  writeCursor,
} from '../../../../src/usage/requests/live/stream-cursor.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

const clock = createFakeClock();
const source = createIdSource(clock);
const ids = (count: number): string[] => Array.from({ length: count }, () => source.next('req'));

it('is read as it was written', () => {
  const at = clock.now();
  const open = ids(3);
  const [told = '', old = ''] = ids(2);
  const marks = [
    { tail: tailOf(old), until: at - 1 },
    { tail: tailOf(told), until: at },
  ];
  const cursor = readCursor(writeCursor({ at, open: open.toReversed(), told: marks }));
  expect(cursor).toEqual({ since: at - LATE_MS, low: at, open, told: new Set([tailOf(told)]) });
  expect(cursor && marksBehind(cursor)).toEqual([{ tail: tailOf(told), until: at + LATE_MS }]);
});

it('fits into a header however much is in flight, and then begins with the oldest it leaves out', () => {
  const open = ids(10_000);
  const told = ids(10_000).map((id) => ({ tail: tailOf(id), until: Infinity }));
  const text = writeCursor({ at: clock.now(), open, told });
  expect(text.length).toBeLessThan(4_096);
  expect(text).toMatch(/^[\x21-\x7e]+$/);
  const cursor = readCursor(text);
  expect(cursor?.open).toEqual(open.slice(0, 40));
  expect(cursor?.low).toBeLessThanOrEqual(clock.now());
});

it.each(['', 'x', 'v1.1.1', 'v1.1.1..x', 'v2.1.1..', `v1.1.1.req_${'!'.repeat(26)}.`])(
  'takes %j for none',
  (text) => expect(readCursor(text)).toBeUndefined(),
);
