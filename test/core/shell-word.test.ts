import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toShellArguments, toShellWord } from '../../src/core/shell-word.ts';

/** Words that a shell makes of a line, one behind the other. */
function wordsOf(line: string): string[] {
  const script = `for word in ${line}; do printf '%s\\0' "$word"; done`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe('a word of a shell', () => {
  it.each([
    ['gpt-5.1', 'gpt-5.1'],
    ['openai/gpt-5:beta@2', 'openai/gpt-5:beta@2'],
    ['a,b=50%+', 'a,b=50%+'],
    ['', "''"],
    ['=ls', "'=ls'"],
    ['a b', "'a b'"],
    ['a\nb', "'a\nb'"],
    ['a/*', "'a/*'"],
    ['~', "'~'"],
    ['$(id)', "'$(id)'"],
    ["it's", String.raw`'it'\''s'`],
  ])('%j is %s', (text, word) => expect(toShellWord(text)).toBe(word));

  it('is what it was, whatever is in it', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }).filter((one) => !one.includes('\0')),
      fc.stringMatching(/^[ '"$`\\!*?~#&|;<>(){}\n\t=-]{0,12}$/),
    );
    fc.assert(
      fc.property(fc.array(text, { minLength: 20, maxLength: 40 }), (texts) => {
        expect(wordsOf(texts.map(toShellWord).join(' '))).toEqual(texts);
      }),
      { numRuns: 20 },
    );
  });
});

describe('arguments of a command', () => {
  it('are no flags', () => {
    expect(toShellArguments('a', 'b c')).toBe("a 'b c'");
    expect(toShellArguments('--server=http://other.test')).toBe('-- --server=http://other.test');
    expect(toShellArguments('a', '-b')).toBe('-- a -b');
  });
});
