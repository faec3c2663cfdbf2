import fc from 'fast-check';
import { expect, it } from 'vitest';
import { elementsOf } from '../../../src/core/json/elements.ts';

const parsed = (text: string) => {
  const bytes = Buffer.from(text);
  return [...elementsOf(bytes, text.indexOf('['))].map(([start, end]) =>
    JSON.parse(bytes.toString('utf8', start, end)),
  );
};

it('finds the elements of any array, wherever there are blanks', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom('', ' ', '\t\n'), (list, indent) => {
      // Negative zero is written without its sign.
      const expected = JSON.parse(JSON.stringify(list));
      expect(parsed(`{"x":${JSON.stringify(list, null, indent)}}`)).toEqual(expected);
    }),
  );
  expect(parsed('[ ]')).toEqual([]);
  expect(parsed('[ 1 , "a\\"],[" , [2,[3]] , {"b]":"}"} ]')).toEqual([
    1,
    'a"],[',
    [2, [3]],
    { 'b]': '}' },
  ]);
});
