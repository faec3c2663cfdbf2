import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesModel } from '../../src/routing/model-patterns.ts';

describe('matchesModel', () => {
  it.each([
    ['acme/fast', 'acme/fast', true],
    ['acme/fast', 'acme/faster', false],
    ['acme/*', 'acme/fast/v2', true],
    ['acme/*', 'acm/fast', false],
    ['*fast*', 'acme/fast-1', true],
    ['*', '', true],
    ['a*a', 'a', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'acb', false],
    ['acme/fast.1', 'acme/fastx1', false],
  ])('%s against %s is %s', (pattern, name, expected) => {
    expect(matchesModel([pattern], name)).toBe(expected);
  });

  it('agrees with the regular expression of the same meaning', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 8 });
    fc.assert(
      fc.property(text, text, (pattern, name) => {
        const source = pattern.replaceAll(/[/]/g, '\\/').replaceAll('*', '[^]*');
        expect(matchesModel([pattern], name)).toBe(new RegExp(`^${source}$`).test(name));
      }),
    );
  });
});
