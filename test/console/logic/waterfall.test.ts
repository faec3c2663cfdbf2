import { describe, expect, it } from 'vitest';
import type { RequestRow } from '../../../src/console/api/views.ts';
import { placeOf, ticksOf, toWaterfall } from '../../../src/console/logic/waterfall.ts';

const ROW = {
  created_at: '2026-11-23T10:00:00.000Z',
  result: 'ok',
  total_ms: 100,
  first_content_ms: null,
  overhead_us: 0,
  attempts: [],
} as unknown as RequestRow;
const attempt = (part: object = {}) => ({
  provider: 'west',
  model: 'm',
  status: 200,
  outcome: 'ok',
  ms: 40,
  verdict: 'final',
  ...part,
});
const fall = (part: object, now = 0) => toWaterfall({ ...ROW, ...part }, now);
const spansOf = (part: object, now?: number) =>
  fall(part, now).spans.map(({ kind, from, to }) => [kind, from, to]);

describe('the stretches of a request', () => {
  it('reach to its end with the answer', () => {
    expect(spansOf({ overhead_us: 5_000, attempts: [attempt()] })).toEqual([
      ['gateway', 0, 5],
      ['answered', 5, 100],
    ]);
  });

  it('take in an answer that took longer than the whole is told to', () => {
    expect(spansOf({ total_ms: 10, attempts: [attempt()] })).toEqual([['answered', 0, 40]]);
    expect(fall({ total_ms: null, first_content_ms: 70 }).total).toBe(70);
    expect(fall({ total_ms: null }).total).toBe(0.1);
  });

  it('show what waited only where it is more than rounding', () => {
    const failed = (ms: number) => ({ attempts: [attempt({ outcome: 'timeout', ms })] });
    expect(spansOf(failed(98))).toEqual([['failed', 0, 98]]);
    expect(spansOf(failed(97))).toEqual([
      ['waiting', 0, 3],
      ['failed', 3, 100],
    ]);
  });

  it('show no wait of a request that is answered or goes on', () => {
    expect(spansOf({ attempts: [attempt()] })).toEqual([['answered', 0, 100]]);
    const now = Date.parse(ROW.created_at) + 60;
    expect(
      spansOf({ result: 'pending', attempts: [attempt({ outcome: 'connect' })] }, now),
    ).toEqual([
      ['failed', 0, 40],
      ['open', 40, 60],
    ]);
    expect(spansOf({ result: 'pending', total_ms: 5 }, now - 1_000)).toEqual([['open', 0, 0.1]]);
  });

  it('tell where content began, within the answer', () => {
    const contentOf = (part: object) => fall(part).spans.at(-1)?.content;
    expect(contentOf({ attempts: [attempt()] })).toBeUndefined();
    expect(contentOf({ attempts: [attempt()], first_content_ms: 30 })).toBe(30);
    const late = { overhead_us: 50_000, attempts: [attempt()], first_content_ms: 30 };
    expect(contentOf(late)).toBe(50);
    const failed = [attempt({ outcome: 'interrupted' })];
    expect(contentOf({ attempts: failed, first_content_ms: 30 })).toBeUndefined();
  });

  it.each([
    [{}, '200'],
    [{ status: null }, 'ok'],
    [{ outcome: 'status_503', status: 503, verdict: 'next route' }, '503 · next route'],
    [{ outcome: 'connect', cause: 'ECONNREFUSED', status: null }, 'connect · ECONNREFUSED'],
    [{ outcome: 'timeout', verdict: undefined }, 'timeout'],
    [{ outcome: 'timeout', verdict: 'retried here' }, 'timeout · retried here'],
  ])('note of %j: %s', (part, note) => {
    expect(fall({ attempts: [attempt(part)] }).spans.at(-1)?.note).toBe(note);
  });
});

describe('the axis', () => {
  it.each([
    [0, false, 0],
    [50, false, 0.5],
    [200, false, 1],
    [-5, false, 0],
    [100, true, 1],
    [0, true, 0],
  ])('shows %i of 100 ms (by powers: %s) at %d', (ms, isLog, place) => {
    expect(placeOf(ms, 100, isLog)).toBe(place);
  });

  it.each([
    [100, [0, 25, 50, 75, 100]],
    [80, [0, 20, 40, 60, 80]],
    [1_000, [0, 250, 500, 750, 1_000]],
    [0.1, [0, 0.025, 0.05, 0.075, 0.1]],
    [37, [0, 10, 20, 30]],
    [41, [0, 20, 40]],
    [210, [0, 100, 200]],
  ])('of %d ms names %j', (total, ticks) => expect(ticksOf(total, false)).toEqual(ticks));

  it('names powers of ten, every second one where there are many', () => {
    expect(ticksOf(9, true)).toEqual([0]);
    expect(ticksOf(1_000, true)).toEqual([0, 10, 100, 1_000]);
    expect(ticksOf(1_000_000, true)).toEqual([0, 10, 100, 1_000, 10_000, 100_000, 1_000_000]);
    expect(ticksOf(10_000_000, true)).toEqual([0, 100, 10_000, 1_000_000]);
  });
});
