import { describe, expect, it } from 'vitest';
import { parseJsonPath } from '../../../src/cli/jsonpath/parse-jsonpath.ts';
import { renderJsonPath } from '../../../src/cli/jsonpath/render-jsonpath.ts';

const DATA = {
  items: [
    { name: 'one', rank: 1, labels: { 'team/a': 'x', 'a.b': 'y' }, tags: ['p', 'q'] },
    { name: 'two', rank: 2, labels: {}, on: true },
  ],
  total: 2,
  none: null,
};

const render = (template: string) => renderJsonPath(parseJsonPath(template), DATA);

describe('a JSONPath template', () => {
  it.each([
    ['{.items[*].name}', 'one two'],
    ['.items[*].name', 'one two'],
    ['items[0].name', 'one'],
    ['$.total', '2'],
    ['{$.items[-1].name}', 'two'],
    ['{.items[0,1].rank}', '1 2'],
    ['{.items[0:1].name}', 'one'],
    ['{.items[1:].name}', 'two'],
    ["{.items[0].labels['team/a']}", 'x'],
    [String.raw`{.items[0].labels.a\.b}`, 'y'],
    ['{.items[0].labels["a.b"]}', 'y'],
    ['{.items[0].tags}', '["p","q"]'],
    ['{..rank}', '1 2'],
    ['{.items[?(@.rank>1)].name}', 'two'],
    ['{.items[?(@.rank <= 1)].name}', 'one'],
    ['{.items[?(@.name=="two")].rank}', '2'],
    ["{.items[?(@.name!='two')].rank}", '1'],
    ['{.items[?(@.on)].name}', 'two'],
    ['{.items[?(@.on==true)].name}', 'two'],
    ["{.items[?(@.labels['a.b']=='y')].name}", 'one'],
    ['{range .items[*]}{.name}={.rank}{"\\n"}{end}', 'one=1\ntwo=2\n'],
    ['total: {.total}{"{}"}', 'total: 2{}'],
    ['{.none}', 'null'],
    ['{.absent.more[3]}', ''],
    ['{.constructor}{.items.length}{.__proto__}', ''],
    ['{@}', JSON.stringify(DATA)],
  ])('%s is %j', (template, expected) => {
    expect(render(template)).toBe(expected);
  });

  it.each([
    '',
    '{',
    '{.items[}',
    '{}',
    '{.a b}',
    '{.items[?(@.a)',
    '{.items[?(@.a==b)]}',
    '{.items[?(process.exit())]}',
    '{.items[(@.length-1)]}',
    '{range .items[*]}{.name}',
    '{end}',
    '{"open}',
    '.a[x]',
    '{.a..}',
  ])('%j is refused', (template) => {
    expect(() => parseJsonPath(template)).toThrow(
      expect.objectContaining({ code: 'usage', exitCode: 64 }),
    );
  });
});
