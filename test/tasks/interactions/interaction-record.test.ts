import { describe, expect, it } from 'vitest';
import { isBillable } from '../../../src/tasks/interactions/interaction-record.ts';

const USED = { usage: { total_input_tokens: 3, total_output_tokens: 2 } };

describe('an Interaction', () => {
  it.each([
    ['completed', {}, true],
    ['completed', USED, true],
    ['incomplete', {}, true],
    ['failed', {}, false],
    ['failed', { usage: {} }, false],
    ['failed', USED, true],
    ['cancelled', {}, false],
    ['cancelled', USED, true],
  ])('that is %s and says %j is billed: %s', (status, value, billed) => {
    expect(isBillable({ id: 'int_1', status, value })).toBe(billed);
  });
});
