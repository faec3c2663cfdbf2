import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toVisibleName } from '../../../src/runtime/tools/visible-name.ts';

describe('the names of tools as models call them', () => {
  it('are plain where providers take them so', () => {
    expect(toVisibleName('shop', 'order')).toBe('shop__order');
  });

  it('fit every provider, and differ where their tools do', () => {
    const name = fc.string({ minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(name, name, name, (server, one, other) => {
        const [first, second] = [toVisibleName(server, one), toVisibleName(server, other)];
        expect(first).toMatch(/^[\w-]{1,64}$/);
        expect(first === second).toBe(one === other);
      }),
    );
  });

  it('differ for every pair of a server and a tool, wherever its underscores are', () => {
    const name = fc.string({ unit: fc.constantFrom('a', '_'), minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.tuple(name, name), fc.tuple(name, name), (one, other) => {
        const isSame = one.join(' ') === other.join(' ');
        expect(toVisibleName(...one) === toVisibleName(...other)).toBe(isSame);
      }),
      { numRuns: 1_000 },
    );
  });
});
