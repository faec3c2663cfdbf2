import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { mutatedJson } from '../../protocols/mutations.ts';

const JUNK = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\n',
  '\r\n',
  '\r',
  '\n\n',
  'data:',
  'event: x\n',
  '\u0000',
  '\ufeff',
  '\u2028',
  '\\u0000',
  '\\ud800',
  '1e999',
  '-',
  'null',
  '--',
  '{"error":',
].map((text) => Buffer.from(text));
const BINARY = [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf0, 0x9f]].map((bytes) =>
  Buffer.from(bytes),
);

/** The bytes with one to four places cut out, flipped, doubled or filled with what does not belong. */
export function mutatedBytes(bytes: Buffer): fc.Arbitrary<Buffer> {
  const edit = fc.tuple(
    fc.nat(),
    fc.constantFrom('cut', 'flip', 'double', 'insert', 'end'),
    fc.integer({ min: 1, max: 40 }),
    fc.constantFrom(...JUNK, ...BINARY),
  );
  return fc.array(edit, { minLength: 1, maxLength: 4 }).map((edits) =>
    edits.reduce((given, [place, how, length, junk]) => {
      const at = place % (given.length + 1);
      const [before, taken] = [given.subarray(0, at), given.subarray(at, at + length)];
      const after = given.subarray(at + length);
      if (how === 'end') return Buffer.concat([given, junk]);
      if (how === 'cut') return Buffer.concat([before, after]);
      if (how === 'double') return Buffer.concat([before, taken, taken, after]);
      if (how === 'insert') return Buffer.concat([before, junk, given.subarray(at)]);
      return Buffer.concat([before, taken.map((byte) => byte ^ (length * 5 + 1)), after]);
    }, bytes),
  );
}

const DEPTH = 40_000;
const HOSTILE_VALUES: readonly string[] = [
  '['.repeat(DEPTH) + ']'.repeat(DEPTH),
  '{"a":'.repeat(DEPTH / 4) + '1' + '}'.repeat(DEPTH / 4),
  '['.repeat(DEPTH),
  '1e400',
  '-1e400',
  '9'.repeat(5_000),
  `0.${'1'.repeat(5_000)}`,
  '-0',
  '9007199254740993',
  '1E-400',
  '"\\ud800"',
  '"\\u0000"',
  '"__proto__"',
  `"${'x'.repeat(100_000)}"`,
  '{"__proto__":{"type":"text"}}',
  '{"constructor":null,"toString":1,"toJSON":2}',
  '{"length":1e9,"0":"x"}',
  `{"type":"object","properties":{${Array.from({ length: 500 }, (_, i) => `"p${i}":{}`).join()}}}`,
  'true',
  'NaN',
  '.5',
];

/** JSON in whose place at random a value stands that parsers and walkers choke on. */
function withHostileValue(text: string): fc.Arbitrary<string> {
  const places = [...text.matchAll(/"(?:[^"\\]|\\.)*"(?!\s*:)|-?\d+(?:\.\d+)?|true|false|null/g)];
  return fc
    .tuple(fc.nat(Math.max(0, places.length - 1)), fc.constantFrom(...HOSTILE_VALUES))
    .map(([index, value]) => {
      const found = places[index];
      if (!found) return value;
      const end = found.index + found[0].length;
      return text.slice(0, found.index) + value + text.slice(end);
    });
}

/** A member once more, under its own name or that name spelled with escapes. */
function withTwin(text: string): fc.Arbitrary<string> {
  const members = [...text.matchAll(/"(\w+)"\s*:/g)];
  const value = fc.constantFrom('null', '1', '"x"', '[]', '{}', ...HOSTILE_VALUES.slice(0, 4));
  return fc
    .tuple(fc.nat(Math.max(0, members.length - 1)), value, fc.boolean(), fc.boolean())
    .map(([index, other, escaped, rename]) => {
      const [found] = members.slice(index, index + 1);
      const name = found?.[1] ?? 'model';
      const at = found?.index ?? 1;
      const hex = name.charCodeAt(0).toString(16).padStart(4, '0');
      const spelled = escaped ? `\\u${hex}${name.slice(1)}` : name;
      if (rename) return text.slice(0, at) + `"${spelled}":` + text.slice(at + name.length + 3);
      return `${text.slice(0, at)}"${spelled}":${other},${text.slice(at)}`;
    });
}

/** The text of a JSON object, damaged in its bytes, its values, its depth or the names of its members. */
export function hostileJson(text: string): fc.Arbitrary<Buffer> {
  return fc.oneof(
    mutatedBytes(Buffer.from(text)),
    ...[mutatedJson(text), mutatedJson(text), withHostileValue(text), withTwin(text)].map((one) =>
      one.map((changed) => Buffer.from(changed)),
    ),
  );
}

/** The bytes in pieces of random sizes, a few of them a single byte. */
export function inPieces(bytes: Buffer): fc.Arbitrary<Buffer[]> {
  return fc.array(fc.nat(bytes.length), { maxLength: 6 }).map((places) => {
    const at = [...new Set([0, ...places, bytes.length])].sort((a, b) => a - b);
    return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
  });
}
