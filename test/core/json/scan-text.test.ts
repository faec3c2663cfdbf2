import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isJson, membersOfText } from '../../../src/core/json/scan-text.ts';
import { parseJson, parseJsonObject } from '../../../src/core/json/value.ts';
import { jsonObjectText, jsonText } from '../json-text.ts';

const text = fc.oneof(
  jsonText,
  jsonObjectText,
  fc.string(),
  jsonObjectText.map((one) => one.slice(0, -1)),
);

it('tells objects from other texts, and their names, as the parser does', () => {
  fc.assert(
    fc.property(text, (one) => {
      const parsed = parseJsonObject(one);
      const names = membersOfText(one)?.map(({ key }) => key);
      expect(names && [...new Set(names)].sort()).toEqual(parsed && Object.keys(parsed).sort());
      expect(isJson(Buffer.from(one))).toBe(parseJson(one) !== undefined);
    }),
    { numRuns: 1000 },
  );
  expect(membersOfText(`{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`)).toHaveLength(1);
});
