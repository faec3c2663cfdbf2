import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createInputChecker } from '../../src/tasks/runs/check-input.ts';
import { regexLiteralsOf } from '../support/regex-literals.ts';
import { inTurn } from '../runs.ts';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));

/** One step per character takes a fraction of a millisecond, one per pair of characters a second. */
const LENGTH = 20_000;
const TOO_LONG_MS = 150;

/** Expressions that take more than linear time, and why no text is long enough for it to matter. */
const BOUNDED: Readonly<Record<string, string>> = {
  'assets/asset-reference.ts /([A-Z]?[a-z]+|[A-Z]+)(?:\\[\\d*\\]|\\d*)$/':
    'sees the last 64 characters of a name',
};

interface Found {
  expression: RegExp;
  file: string;
}

const ALL: readonly Found[] = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .sort()
  .flatMap((file) =>
    regexLiteralsOf(readFileSync(SOURCES + file, 'utf8')).map((expression) => ({
      expression,
      file,
    })),
  );
/** Each once, wherever else it stands. */
const REPEATING = [
  ...new Map(
    ALL.filter(({ expression: { source } }) => /[*+]|\{\d+,\d*\}/.test(source)).map(
      (found) => [String(found.expression), found] as const,
    ),
  ).values(),
];

/** A text for each part of an expression that takes characters, in their order. */
function partsOf({ source }: RegExp): string[] {
  const parts: string[] = [];
  const token =
    /\\[pP]\{[^}]*\}|\\u\{?[0-9a-fA-F]+\}?|\\x[0-9a-f]{2}|\\k<\w+>|\\.|\[(?:\\.|[^\]\\])*\]|\(\?(?:[:=!]|<[=!]|<\w+>)|[*+?]|\{\d*,?\d*\}|[()|^$]|./gs;
  for (const [text] of source.matchAll(token)) {
    const sample = sampleOf(text);
    if (sample !== '') parts.push(sample);
  }
  return parts;
}

const CANDIDATES = [
  'a',
  '1',
  ' ',
  '-',
  '.',
  '/',
  ':',
  '"',
  "'",
  ',',
  '\n',
  '\t',
  '*',
  '_',
  'Z',
  '=',
  '~',
  '@',
  'é',
  '\0',
];

function sampleOf(token: string): string {
  if (/^(?:[()|^$*+?]|\{\d|\(\?)/.test(token)) return '';
  const one = new RegExp(`^${token}$`, /^\\[pPu]|\\p/.test(token) ? 'u' : '');
  const found = CANDIDATES.find((text) => one.test(text));
  return found ?? (/^\\[bBkdDwWsS]/.test(token) ? '' : token.replace(/^\\/, ''));
}

/** Texts that repeat what an expression repeats, behind what it asks for first, and end otherwise. */
function* attacksOn(expression: RegExp): Generator<string> {
  const parts = partsOf(expression);
  const made = new Set<string>();
  for (let at = 0; at < parts.length; at++) {
    const before = parts.slice(0, at).join('');
    for (let size = 1; size <= 3 && at + size <= parts.length; size++) {
      const pump = parts.slice(at, at + size).join('');
      for (const start of ['', before]) {
        const attack = JSON.stringify([start, pump]);
        if (made.has(attack)) continue;
        made.add(attack);
        yield `${start}${pump.repeat(Math.ceil(LENGTH / pump.length))}\0`;
      }
    }
  }
}

function timeOf(expression: RegExp, text: string): number {
  const all = new RegExp(expression.source, [...new Set(`${expression.flags}g`)].join(''));
  const start = performance.now();
  text.replace(all, '');
  return performance.now() - start;
}

describe('the expressions of the source', () => {
  it('are found', () => {
    expect(ALL.length).toBeGreaterThan(300);
    expect(REPEATING.length).toBeGreaterThan(100);
  });

  it.each(
    REPEATING.map(({ expression, file }) => [`${file} ${String(expression)}`, expression] as const),
  )('take time in proportion to the text: %s', (name, expression) => {
    if (BOUNDED[name] !== undefined) return;
    for (const text of attacksOn(expression)) {
      // A machine that is busy is slow once, not thrice.
      const times = [0, 0, 0].map(() => () => timeOf(expression, text));
      const isSlow = times.every((time) => time() > TOO_LONG_MS);
      const shown = JSON.stringify(`${text.slice(0, 60)}…`);
      if (isSlow) expect.fail(`slow on ${shown}`);
    }
  });
});

describe('the schema of a model', () => {
  const check = (schema: object, input: unknown): Promise<void> =>
    createInputChecker().check(schema, input);

  // Each takes a thread for as long as a check may last.
  it.each(
    inTurn('checks that never end', [
      ['a pattern', { properties: { a: { pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(60)}!` }],
      [
        'a pattern of names',
        { patternProperties: { '^(a|a)*$': {} } },
        { [`${'a'.repeat(60)}!`]: 1 },
      ],
      [
        'items that must differ',
        { properties: { a: { uniqueItems: true } } },
        { a: Array.from({ length: 60_000 }, (_, n) => ({ n })) },
      ],
    ]),
  )('does not hold everything else up: %s', async (_what, schema, input) => {
    await expect(check({ type: 'object', ...schema }, input)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'input',
      message: expect.stringContaining('too long'),
    });
  });

  it('still says what does not fit', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    await expect(check(schema, { a: 'b' })).resolves.toBeUndefined();
    await expect(check(schema, { a: 1 })).rejects.toMatchObject({ param: 'input.a' });
  });
});
