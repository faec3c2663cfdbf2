import { expect, it } from 'vitest';
import { lookSpans, NEAR_MS } from '../../../../src/usage/requests/live/look-spans.ts';
import type { LookSpan } from '../../../../src/usage/requests/live/look-spans.ts';

const deepMs = 33_000;
const GAPS = [1_000, 1_700, 1_050, 2_900, 4_000, 1_001];

function looks(): { now: number; spans: LookSpan[] }[] {
  const found: { now: number; spans: LookSpan[] }[] = [];
  let lookedAt = 0;
  for (let at = 0; at < 90; at++) {
    const now = lookedAt + (GAPS[at % GAPS.length] ?? 0);
    found.push({ now, spans: lookSpans({ now, lookedAt, deepMs }) });
    lookedAt = now;
  }
  return found;
}

it('finds each call soon after it was known, however old its id was by then', () => {
  const all = looks();
  let worst = 0;
  for (let id = 20_000; id < 40_000; id += 37)
    for (let age = 0; age < deepMs; age += 250) {
      const known = id + age;
      const found = all.find(
        ({ now, spans }) =>
          now >= known && spans.some(({ from, to }) => id >= from && id < to && id < now),
      );
      const late = (found?.now ?? Infinity) - known;
      worst = Math.max(worst, late - Math.max(age, NEAR_MS));
    }
  expect(worst).toBeLessThanOrEqual(Math.max(...GAPS));
});

it('reads a few seconds of ids, however long a body may take', () => {
  const spans = lookSpans({ now: 10_000_000, lookedAt: 9_999_000, deepMs: 600_000 });
  const read = spans.reduce((sum, { from, to }) => sum + Math.min(to, 10_000_000) - from, 0);
  expect(read).toBe(NEAR_MS + 1_000 + 8 * 1_000);
});

it('goes back as far as a body may take where a look is missing', () => {
  expect(lookSpans({ now: 50_000, lookedAt: undefined, deepMs })).toEqual([
    { from: 17_000, to: Infinity },
  ]);
  expect(lookSpans({ now: 50_000, lookedAt: 40_000, deepMs })).toEqual([
    { from: 7_000, to: Infinity },
  ]);
});
