import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canMeet, captureOf, matchesModel } from '../../src/routing/model-patterns.ts';

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

describe('canMeet', () => {
  it.each([
    ['claude-*', 'claude-opus', true],
    ['claude-*', '*-latest', true],
    ['anthropc/*', 'anthropic/*', false],
    ['a*b', 'a*c', false],
    ['*', '', true],
    ['gpt-*', 'gpt', false],
  ])('%s and %s: %s', (one, other, expected) => {
    expect(canMeet(one, other)).toBe(expected);
    expect(canMeet(other, one)).toBe(expected);
  });

  it('is true whenever a name matches both', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
    const plain = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 6 });
    fc.assert(
      fc.property(text, text, plain, (one, other, name) => {
        if (matchesModel([one], name) && matchesModel([other], name))
          expect(canMeet(one, other)).toBe(true);
      }),
    );
  });
});

it('captureOf gives the text of the *, and nothing where the rest overlaps', () => {
  expect(captureOf('claude-*', 'claude-opus')).toBe('opus');
  expect(captureOf('*-latest', '-latest')).toBe('');
  expect(captureOf('aa*aa', 'aaa')).toBeUndefined();
});
