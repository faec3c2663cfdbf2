import { describe, expect, it } from 'vitest';
import { parseJsonPath, valueAt } from '../../../src/core/json/path.ts';

describe('a JSON path', () => {
  it.each([
    ['$.a', ['a']],
    ['$.usage.total_tokens', ['usage', 'total_tokens']],
    ['$.a-b[0][\'x y\']["z"]', ['a-b', 0, 'x y', 'z']],
    ['$[12]', [12]],
  ])('%s has the steps %j', (text, steps) => expect(parseJsonPath(text)).toEqual(steps));

  it.each([
    '',
    '$',
    'a',
    '.a',
    '$a',
    '$.',
    '$..a',
    '$.a.',
    '$.*',
    '$[*]',
    '$[-1]',
    '$[01]',
    '$[a]',
  ])('%j is none', (text) => expect(parseJsonPath(text)).toBeUndefined());

  it.each(["$['a'", '$.a b', `$${'.a'.repeat(33)}`, "$['']", '$[1.5]', '$.1'])(
    '%j is none',
    (text) => expect(parseJsonPath(text)).toBeUndefined(),
  );

  it('names one value of a document, or none', () => {
    const document = { a: [{ b: null }, { b: 7 }], 'x y': true };
    const at = (text: string): unknown => valueAt(document, parseJsonPath(text) ?? []);
    expect(at('$.a[1].b')).toBe(7);
    expect(at('$.a[0].b')).toBeNull();
    expect(at("$['x y']")).toBe(true);
    for (const text of ['$.b', '$.a[2].b', '$.a.b', '$.a[0].b.c', '$.constructor', '$.a.length.x'])
      expect(at(text)).toBeUndefined();
  });
});
