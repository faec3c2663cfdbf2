import * as fc from 'fast-check';

const blank = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const number = fc.constantFrom(
  '0',
  '-0',
  '1.0',
  '1e2',
  '-12.50',
  '9007199254740993',
  '123456789012345678901234567890',
);
const escaped = fc.constantFrom(
  '\\n',
  '\\"',
  '\\\\',
  '\\/',
  '\\u0041',
  '\\ud83d\\ude00',
  '\\\\\\"',
);
const plain = fc
  .string({ unit: 'grapheme', maxLength: 8 })
  .map((text) => JSON.stringify(text).slice(1, -1));
const string = fc
  .array(fc.oneof(escaped, plain), { maxLength: 6 })
  .map((parts) => `"${parts.join('')}"`);

const tree = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(number, string, fc.constantFrom('true', 'false', 'null')),
    fc
      .array(fc.tuple(blank, tie('value'), blank), { maxLength: 4 })
      .map((items) => `[${items.map((i) => i.join('')).join(',')}]`),
    fc
      .array(fc.tuple(blank, string, blank, tie('value'), blank), { maxLength: 4 })
      .map(
        (items) =>
          `{${items.map(([a, key, b, value, c]) => `${a}${key}${b}:${value}${c}`).join(',')}}`,
      ),
  ),
}));

/** JSON text of any value, spelled in ways that no serialiser would choose. */
export const jsonText: fc.Arbitrary<string> = tree.value;

const key = fc.oneof(
  fc.constantFrom(
    'model',
    'stream',
    'temperature',
    'a',
    'b-c',
    'd.e',
    '__proto__',
    '1',
    '',
    'ключ',
    'x"y',
    'n\\m',
  ),
  fc.string({ unit: 'grapheme', maxLength: 5 }),
);

/** JSON text of an object with distinct keys. */
export const jsonObjectText: fc.Arbitrary<string> = fc
  .tuple(
    blank,
    fc.uniqueArray(fc.tuple(key, blank, blank, jsonText, blank), {
      maxLength: 7,
      selector: ([name]) => name,
    }),
    blank,
  )
  .map(([before, members, after]) => {
    const texts = members.map(
      ([name, a, b, value, c]) => `${a}${JSON.stringify(name)}${b}:${b}${value}${c}`,
    );
    return `${before}{${texts.join(',')}${after}}${after}`;
  });
