import { describe, expect, it } from 'vitest';
import { compare, lower, LOWER, readNumbers } from './ratchet.ts';
import { measureRooms } from './rooms.ts';
import { verifies } from '../requirements.ts';

const FILE = 'test/house/rooms.json';
const { numbers: counts, details } = measureRooms();
const changes = compare(readNumbers('rooms.json'), counts);
const of = (kind: string) => changes.filter((change) => change.kind === kind);

/** Lines by which a room may be smaller than its number: a change lowers none for a few lines. */
const slackOf = (number: number): number => Math.floor(number / 100) + 20;

describe('a room', () => {
  it(verifies('house.ratchet', 'grows only in a commit that raises its number'), () => {
    const grown = of('lines').filter(({ count, number }) => count > number);
    expect(
      grown.map(
        ({ area, count, number }) =>
          `${area}: ${count} lines, ${count - number} above its number. Make it smaller, or set ` +
          `lines.${area} in ${FILE} to ${count} in the same commit, whose message says why.`,
      ),
    ).toEqual([]);
  });

  it('has no number far above its lines', () => {
    const shrunk = of('lines').filter(({ count, number }) => number - count > slackOf(number));
    expect(
      shrunk.map(
        ({ area, count, number }) =>
          `${area}: ${count} lines, ${number - count} below its number. Lower it: ${LOWER}`,
      ),
    ).toEqual([]);
  });

  it.each([
    ['arrowsUp', 'arrows between its parts that point back up'],
    ['filesInCircles', 'files that import each other in a circle, types and lazy imports included'],
  ])('never has more %s: %s', (kind, what) => {
    const risen = of(kind).filter(({ count, number }) => count > number);
    expect(
      risen.map(({ area, count, number }) => ({
        [area]: `${count} ${what}, ${number} before`,
        now: details[kind]?.[area],
      })),
    ).toEqual([]);
  });

  it.each(['arrowsUp', 'filesInCircles'])('keeps what a change gained in %s', (kind) => {
    const fallen = of(kind).filter(({ count, number }) => count < number);
    expect(
      fallen.map(
        ({ area, count, number }) => `${area}: ${count}, below ${number}. Lower it: ${LOWER}`,
      ),
    ).toEqual([]);
  });
});

describe('a number', () => {
  it('is lowered to its count, and neither raised nor added', () => {
    const numbers = { lines: { less: 5, more: 5, gone: 5 } };
    const counts = { lines: { less: 3, more: 7, new: 1 } };
    expect(lower(numbers, counts)).toEqual({ lines: { less: 3, more: 5 } });
  });
});
