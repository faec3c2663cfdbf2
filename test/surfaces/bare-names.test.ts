import { describe, expect, it } from 'vitest';
import { isServed, resolveBareName } from '../../src/surfaces/bare-names.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';

const PROTOCOL = 'generate-content';
const native = fakeRoute('n', { protocols: new Set([PROTOCOL, 'chat'] as const) });
const translated = fakeRoute('t', { mapping: 'translated' });
const other = fakeRoute('o');

const nameOf = (asked: string, ...models: ReturnType<typeof fakeModel>[]): string | undefined =>
  resolveBareName(asked, PROTOCOL, fakeCatalog(...models))?.name;

describe('a name in the path', () => {
  it('is the one in the catalog, as it is before without `models/`', () => {
    const [long, short] = [fakeModel('models/a', []), fakeModel('a', [])];
    expect(resolveBareName('models/a', PROTOCOL, fakeCatalog(short, long))).toEqual({
      name: 'models/a',
      model: long,
    });
    expect(nameOf('models/a', short)).toBe('a');
    expect(nameOf('a', short)).toBe('a');
    expect(nameOf('xmodels/a', short)).toBeUndefined();
  });

  it('stands before the same name behind a vendor', () => {
    expect(nameOf('a', fakeModel('acme/a', [native]), fakeModel('a', []))).toBe('a');
  });

  it('means the model of a vendor, with `models/` in front too', () => {
    const model = fakeModel('acme/a', [native]);
    expect(resolveBareName('a', PROTOCOL, fakeCatalog(model))).toEqual({ name: 'acme/a', model });
    expect(nameOf('models/a', model)).toBe('acme/a');
    expect(nameOf('b', model)).toBeUndefined();
  });

  it('means the vendor that speaks the protocol, then the one it is translated for', () => {
    const [best, next, last] = [
      fakeModel('a/x', [other, native], { resourceId: '3' }),
      fakeModel('b/x', [other, translated], { resourceId: '2' }),
      fakeModel('c/x', [other], { resourceId: '1' }),
    ];
    expect(nameOf('x', best, next, last)).toBe('a/x');
    expect(nameOf('x', last, next, best)).toBe('a/x');
    expect(nameOf('x', last, next)).toBe('b/x');
    expect(nameOf('x', next, last)).toBe('b/x');
  });

  it('means the vendor that was configured first where all serve it alike', () => {
    const first = fakeModel('b/x', [native], { resourceId: '1' });
    const second = fakeModel('a/x', [native], { resourceId: '2' });
    expect(nameOf('x', first, second)).toBe('b/x');
    expect(nameOf('x', second, first)).toBe('b/x');
  });
});

it.each([
  ['speaks the protocol', [other, native], true],
  ['is translated', [other, translated], true],
  ['does neither', [other], false],
  ['is there at all', [], false],
])('a model of which a route %s is served: %#', (_, routes, served) => {
  expect(isServed(fakeModel('a', routes), PROTOCOL)).toBe(served);
});
