import { expect, it } from 'vitest';
import { listed } from '../../../src/cli/output/listed.ts';

it('names one thing in the sentence, and several in a line each', () => {
  expect(listed('left', ['a b'])).toBe('left: a b');
  expect(listed('left', ['a', 'b'])).toBe('left:\na\nb');
});
