import { describe, expect, it } from 'vitest';
import { mutantsOf } from './mutate.ts';

const SOURCE = `
interface Named { readonly size: 1 | 2 }
export function room(used: number, flags: { full?: boolean }): string {
  if (used >= 10 && !flags.full) return 'left';
  report(used);
  return used === 3 ? 'three' : 'none';
}
`;

function changes(text: string): string[] {
  return mutantsOf(text).map(({ line, was, becomes }) => `${line}: ${was} -> ${becomes}`);
}

describe('mutants of a source', () => {
  it('swap operators, flip conditions, raise numbers and leave calls out, in order', () => {
    expect(changes(SOURCE)).toEqual([
      '4: used >= 10 && !flags.full -> !(used >= 10 && !flags.full)',
      '4: >= -> >',
      '4: 10 -> 11',
      '4: && -> ||',
      '4: ! -> ',
      '5: report(used); -> ;',
      '6: used === 3 -> !(used === 3)',
      '6: === -> !==',
      '6: 3 -> 4',
    ]);
  });

  it('change one place each and nothing of the types', () => {
    for (const mutant of mutantsOf(SOURCE)) {
      const changed = mutant.apply();
      expect(changed).not.toBe(SOURCE);
      expect(changed).toContain('size: 1 | 2');
    }
  });
});
