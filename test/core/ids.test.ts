import { expect, it } from 'vitest';
import { createIdSource, idTime } from '../../src/core/ids.ts';
import { createFakeClock } from '../support/fake-clock.ts';

it('ids sort in the order in which they were made, also within one millisecond', () => {
  const clock = createFakeClock();
  const ids = createIdSource(clock);
  const made = Array.from({ length: 2000 }, (_, i) => {
    if (i === 1000) clock.advance(1);
    return ids.next('key');
  });
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
});

it('ids of two sources differ although they were made at the same instant', () => {
  const clock = createFakeClock();
  expect(createIdSource(clock).next('key')).not.toBe(createIdSource(clock).next('key'));
});

it('an id tells when it was made, and a text that is none tells nothing', () => {
  const clock = createFakeClock();
  const id = createIdSource(clock).next('key');
  expect(id).toMatch(/^key_[0-9a-hjkmnp-tv-z]{26}$/);
  expect(idTime(id)).toBe(clock.now());
  expect(idTime('key_short')).toBeUndefined();
  expect(idTime(`key_${'u'.repeat(26)}`)).toBeUndefined();
});
