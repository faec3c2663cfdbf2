import { describe, expect, it } from 'vitest';
import { createPlaces } from '../../../src/config/source/locate.ts';
import { parseYaml } from '../../../src/config/source/parse-yaml.ts';

function parse(text: string) {
  const places = createPlaces();
  const { documents, diagnostics } = parseYaml({ file: 'f.yaml', directory: '/', text }, places);
  const problems = diagnostics.map(({ line, column, message }) => `${line}:${column} ${message}`);
  return { values: documents.map(({ value }) => value), documents, diagnostics, problems, places };
}

describe('parseYaml', () => {
  it('reads YAML 1.2 scalars, several documents and JSON', () => {
    expect(parse('a: no\nb: 014\nc: 0o14\nd: ~\n').values).toEqual([
      { a: 'no', b: 14, c: 12, d: null },
    ]);
    expect(parse('---\na: 1\n---\n# nothing\n---\nb: 2\n').values).toEqual([{ a: 1 }, { b: 2 }]);
    expect(parse('{"a": [1, {"b": "x"}]}').values).toEqual([{ a: [1, { b: 'x' }] }]);
    expect(parse('').values).toEqual([]);
  });

  it('keeps the place of every key and value', () => {
    const { places, values } = parse('models:\n  - name: x\n    routes: [{provider: p}]\n');
    const at = (...path: (string | number)[]) => {
      const { line, column } = places.find(values[0], path);
      return `${line}:${column}`;
    };
    expect(at()).toBe('1:1');
    expect(at('models')).toBe('2:3');
    expect(at('models', 0, 'name')).toBe('2:11');
    expect(at('models', 0, 'routes', 0, 'provider')).toBe('3:25');
    expect(at('models', 0, 'routes', 0, 'absent')).toBe('3:14');
    expect(places.find(values[0], ['models', 0, 'name'], 'key')).toMatchObject({ column: 5 });
  });

  it('expands anchors to copies and merges << below what the mapping says itself', () => {
    const text = 'a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc:\n  <<: [*a, *b]\n  z: 5\nd: *a\n';
    const value = parse(text).values[0] as Record<string, unknown>;
    expect(value['c']).toEqual({ x: 1, y: 2, z: 5 });
    expect(value['d']).toEqual(value['a']);
    expect(value['d']).not.toBe(value['a']);
  });

  it('places a merged value where it was written', () => {
    const { places, values } = parse('a: &a\n  x: 1\nc:\n  <<: *a\n');
    expect(places.find(values[0], ['c', 'x'])).toMatchObject({ line: 2, column: 6 });
  });

  it('points a duplicate key at its second place and names the first', () => {
    const { diagnostics } = parse('a:\n  b: 1\n  c: 2\n  b: 3\n');
    expect(diagnostics).toMatchObject([
      {
        line: 4,
        column: 3,
        message: 'the key b is given twice',
        hint: 'remove one; the first is at 2:3',
      },
    ]);
  });

  it.each([
    ['schedule:\n  expression: * * * * *\n', "write '* * * * *'"],
    ['schedule:\n  expression: */5 * * * *\n', "write '*/5 * * * *'"],
    ['schedule:\n  expression: */5 * * * * # often\n', "write '*/5 * * * *'"],
  ])('explains an unquoted cron star: %j', (text, hint) => {
    expect(parse(text).diagnostics).toMatchObject([
      { line: 2, column: 15, message: 'an unquoted * starts an alias, not a text', hint },
    ]);
  });

  it.each([
    ['a: *nope\n', '1:4 no anchor is named nope'],
    ['a: !tag x\n', '1:4 Unresolved tag: !tag'],
    ['? [a]\n: 1\n', '1:3 a key must be a text'],
    ['a:\n\tb: 1\n', '2:1 Tabs are not allowed as indentation'],
    ['a: .inf\n', '1:4 not a finite number'],
    ['__proto__: {a: 1}\n', '1:1 the key __proto__ is not allowed'],
    ['a: &a [*a]\n', '1:8 the anchor a contains itself'],
    ['a: 1\n<<: [2]\n', '2:6 only a mapping can be merged with <<'],
  ])('refuses %j with its place', (text, problem) => {
    expect(parse(text).problems).toEqual([problem]);
  });

  it('bounds depth and the growth of aliases', () => {
    expect(parse('['.repeat(20_000)).problems).toEqual(['1:65 nested more than 64 levels deep']);
    const laughs = Array.from({ length: 9 }, (_, level) => {
      const inner = level === 0 ? 'lol' : `*l${level - 1}`;
      return `l${level}: &l${level} [${Array(9).fill(inner).join(', ')}]`;
    });
    const { problems } = parse(laughs.join('\n'));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('more than 200000 values');
    const chain = ['&a0 [1]', ...Array.from({ length: 500 }, (_, i) => `&a${i + 1} [*a${i}]`)];
    expect(parse(chain.map((item) => `- ${item}`).join('\n')).problems[0]).toContain(
      'nested more than 64 levels deep',
    );
  });
});
