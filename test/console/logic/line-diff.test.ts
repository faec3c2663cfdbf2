import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines, toPatch } from '../../../src/console/logic/line-diff.ts';

const shown = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, text }) => `${kind[0]} ${text}`);

describe('two texts line by line', () => {
  it.each([
    ['a', 'a', ['s a']],
    ['a\nb', 'a', ['s a', 'r b']],
    ['a', 'a\nb', ['s a', 'a b']],
    ['b', 'a\nb', ['a a', 's b']],
    ['a\nb', 'b', ['r a', 's b']],
    ['a', 'b', ['r a', 'a b']],
    ['a\nb\nc\nd', 'a\nc\nx\nd', ['s a', 'r b', 's c', 'a x', 's d']],
  ])('%j to %j', (before, after, lines) => expect(shown(before, after)).toEqual(lines));

  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12, minLength: 1 });

  it('hold both, and change no more than they must', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const lines = diffLines(a.join('\n'), b.join('\n'));
        const without = (gone: string) =>
          lines.filter(({ kind }) => kind !== gone).map((line) => line.text);
        expect(without('added')).toEqual(a);
        expect(without('removed')).toEqual(b);
        const same = lines.filter(({ kind }) => kind === 'same').length;
        expect(same).toBe(longestCommon(a, b));
      }),
    );
  });
});

/** The longest common part by trying everything. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  const [first, ...rest] = a;
  if (first === undefined || b.length === 0) return 0;
  const at = b.indexOf(first);
  const without = longestCommon(rest, b);
  return at < 0 ? without : Math.max(without, 1 + longestCommon(rest, b.slice(at + 1)));
}

describe('a patch', () => {
  it('counts the lines of both sides', () => {
    expect(toPatch('f', 'a\nb', 'a\nb\nc\nd').split('\n')).toEqual([
      '--- a/f',
      '+++ b/f',
      '@@ -1,2 +1,4 @@',
      ' a',
      ' b',
      '+c',
      '+d',
      '',
    ]);
  });

  it('is none where only the same is there', () => {
    expect(toPatch('f', 'a\nb', 'a\nb')).toBe('');
    expect(toPatch('f', '', '')).toBe('');
  });
});
