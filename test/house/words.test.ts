import { describe, expect, it } from 'vitest';
import { addedLines, newestFirst } from './newest.ts';
import { commentsOf, paragraphsOf } from './passages.ts';
import { compare, LOWER, readNumbers } from './ratchet.ts';
import { countWords, findAllWords, findWords } from './words.ts';
import { verifies } from '../requirements.ts';

const found = findAllWords();
const changes = compare(readNumbers('words.json'), countWords(found));

/** Markers by which an area may be below its number. */
const SLACK = 10;

describe('comments and pages', () => {
  it(verifies('house.english', 'get no further peculiar words, and hold fewer than 300'), () => {
    const all = Object.values(readNumbers('words.json')).flatMap((areas) => Object.values(areas));
    expect(all.reduce((sum, number) => sum + number, 0)).toBeLessThan(300);
    const risen = changes.filter(({ count, number }) => count > number);
    const added = risen.length > 0 ? addedLines() : new Map<string, Set<number>>();
    expect(
      risen.map(({ kind, area, count, number }) => ({
        [`${kind} of ${area}`]: `${count} words that hide the term, ${number} before; reword, e.g.`,
        at: newestFirst(
          found[kind as keyof typeof found].filter((finding) => finding.area === area),
          added,
        ).map(({ file, line, word, plain }) => `${file}:${line} "${word}": ${plain}`),
      })),
    ).toEqual([]);
  });

  it('keep what a change gained', () => {
    const fallen = changes.filter(({ count, number }) => number - count > SLACK);
    expect(
      fallen.map(
        ({ kind, area, count, number }) =>
          `${kind} of ${area}: ${count}, ${number} before. ${LOWER}`,
      ),
    ).toEqual([]);
  });
});

describe('a peculiar word', () => {
  const wordsOf = (text: string) => findWords([{ line: 1, text }]).map(({ word }) => word);

  it.each([
    ['Nobody is told which lease stands', ['told', 'Nobody', 'stands']],
    ['Goes on behind the last event, beside the others', ['behind', 'beside', 'Goes on']],
    [
      'Lets the body go and says nothing of what it was',
      ['Lets the body go', 'what it', 'says nothing of'],
    ],
    ['Reads anew, alone, and keeps its place no more', ['alone', 'no more', 'anew', 'place']],
  ])('is found in "%s"', (text, words) => {
    expect(wordsOf(text).sort()).toEqual([...words].sort());
  });

  it.each([
    'Runs behind a reverse proxy or in front of the load balancer',
    'At most two decimal places, no more than ten digits, in place of a number',
    'The id tells two Sessions with one name apart',
    'A stand-in for the provider',
  ])('is not found where it is the term: "%s"', (text) => {
    expect(wordsOf(text)).toEqual([]);
  });

  it('is found at its line, in comments and paragraphs only', () => {
    const code =
      "const text = '// told';\n\n/**\n * Reports losses.\n * Nobody waits.\n */\ncall(); // anew\n";
    expect(
      commentsOf(code)
        .flatMap(findWords)
        .map(({ line, word }) => [line, word]),
    ).toEqual([
      [5, 'Nobody'],
      [7, 'anew'],
    ]);
    const page =
      '# Told\n\nSet `told` in\n[a file](./anew.md) and go\non.\n\n```sh\necho anew\n```\n';
    expect(
      paragraphsOf(page)
        .flatMap(findWords)
        .map(({ line, word }) => [line, word]),
    ).toEqual([
      [1, 'Told'],
      [4, 'go on'],
    ]);
  });
});
