import { expect, it } from 'vitest';
import { limitTone, refuserOf } from '../../../src/console/logic/limit-tone.ts';

it.each([
  [0, ''],
  [0.499, ''],
  [0.5, 'warn'],
  [0.62, 'warn'],
  [0.799, 'warn'],
  [0.8, 'bad'],
  [1.2, 'bad'],
])('a bar of a limit of which %d are spent has the tone "%s"', (share, tone) => {
  expect(limitTone(share)).toBe(tone);
});

it('goes by the alerts of its budget', () => {
  expect([0.6, 0.75, 0.95].map((share) => limitTone(share, [70, 90]))).toEqual(['', 'warn', 'bad']);
});

it('a limit is named by its owner', () => {
  expect(refuserOf({ limit: 'budget', name: 'blue' })).toBe('budget blue');
  expect(refuserOf({ limit: 'organization', name: null })).toBe('organization');
});
