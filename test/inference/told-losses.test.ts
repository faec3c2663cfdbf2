import { describe, expect, it } from 'vitest';
import { toldLosses } from '../../src/inference/told-losses.ts';

describe('what a call tells of its losses', () => {
  it('is the names as they are', () => {
    expect(toldLosses(['logit_bias', 'reasoning.x'])).toEqual(['logit_bias', 'reasoning.x']);
  });

  it('leaves out names of more than 96 characters', () => {
    const names = [95, 96, 97].map((length) => 'x'.repeat(length));
    expect(toldLosses(names)).toEqual(names.slice(0, 2));
  });

  it('fits into the head of an answer, whatever a client names its fields', () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `${index}${'x'.repeat(index % 300)}`);
    const told = toldLosses(names);
    expect(told).toHaveLength(64);
    expect(told.join().length).toBeLessThan(8 * 1024);
    expect(told.every((name) => names.includes(name))).toBe(true);
  });
});
