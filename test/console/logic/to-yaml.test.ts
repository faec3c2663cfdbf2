import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { toEntry } from '../../../src/console/logic/to-yaml.ts';

describe('an object as an entry of a file', () => {
  it.each([
    'true',
    'Null',
    'on',
    'N',
    '1',
    '1.5',
    '',
    ' a',
    'a ',
    '- a',
    'a: b',
    'a #b',
    '&a',
    '~',
  ])('is read back with the text %j', (text) => {
    expect(parse(toEntry({ name: 'n', text }))).toEqual([{ name: 'n', text }]);
  });

  const name = fc.oneof(fc.stringMatching(/^[a-z][a-z_0-9]{0,8}$/), fc.string({ maxLength: 6 }));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.stringMatching(/^[ -~]{0,12}$/),
      fc.integer(),
      fc.boolean(),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(name, tie('tree'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));

  it('is read back whatever is in it', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const isEmpty = typeof value === 'object' && Object.keys(value).length === 0;
        const read: unknown = parse(toEntry({ name: 'n', value }));
        expect(read).toEqual([isEmpty ? { name: 'n' } : { name: 'n', value }]);
      }),
    );
  });

  it('lacks what says nothing, at its first level alone', () => {
    const object = { name: 'n', none: null, absent: undefined, list: [], map: {} };
    expect(parse(toEntry({ ...object, kept: { none: null, list: [], map: {} } }))).toEqual([
      { name: 'n', kept: { none: null, list: [], map: {} } },
    ]);
  });

  it('lacks what the gateway keeps by itself', () => {
    const own = { id: '1', type: 'model', version: 3, labels: { a: 'b' }, status: 'active' };
    expect(toEntry({ ...own, name: 'a' })).toBe('- name: a\n');
  });
});
