import { describe, expect, it } from 'vitest';
import { matchesPath, mayLeave, parsePathPattern } from '../../src/routing/api-paths.ts';

const encoded = (text: string, levels: number): string =>
  Array.from({ length: levels }).reduce<string>((inner) => inner.replaceAll('%', '%25'), text);

describe('a pattern of paths', () => {
  it.each([
    ['/', ['']],
    ['/v1/search', ['v1', 'search']],
    ['/items/*', ['items', '*']],
    ['/items/*/parts', ['items', '*', 'parts']],
    ['/files/**', ['files', '**']],
    ['/**', ['**']],
    ['/v1/', ['v1', '']],
    ['/a/..b/.well-known/...', ['a', '..b', '.well-known', '...']],
  ])('%s is read as %j', (text, segments) => {
    expect(parsePathPattern(text)).toEqual(segments);
  });

  it.each([
    '',
    'v1/search',
    '/a b',
    '/a?b',
    '/a#b',
    '/a\\b',
    '/a%20b',
    '/**/a',
    '/a*',
    '/a***',
    '/.',
    '/a/..',
    '/../a',
    '/a/..;x/b',
  ])('%j is none', (text) => {
    expect(parsePathPattern(text)).toBeUndefined();
  });
});

describe('a path', () => {
  it.each([
    ['/v1/search', '/v1/search', true],
    ['/v1/search', '/v1/Search', false],
    ['/v1/search', '/v1', false],
    ['/v1/search', '/v1/search/', false],
    ['/v1/search', '/v1/search/more', false],
    ['/v1/search', '/v1/se%61rch', true],
    ['/v1/search', '/v1/se%2561rch', false],
    ['/v1/search', '/v1%2Fsearch', false],
    ['/v1/search', '/v1/%zz', false],
    ['/', '/', true],
    ['/', '/a', false],
    ['/items/*', '/items/7', true],
    ['/items/*', '/items/a%20b', true],
    ['/items/*', '/items/', false],
    ['/items/*', '/items/7/parts', false],
    ['/items/*', '/other/7', false],
    ['/items/*', '/items/a%2Fb', false],
    ['/items/*', '/items/a%5Cb', false],
    ['/items/*', '/items/a%252Fb', false],
    ['/items/*', '/items/a%252Fb%25', false],
    ['/items/*', '/items/100%25', true],
    ['/items/*/parts', '/items/7/parts', true],
    ['/items/*/parts', '/items/7/other', false],
    ['/files/**', '/files', true],
    ['/files/**', '/files/a', true],
    ['/files/**', '/files/a/b/c', true],
    ['/files/**', '/other/a', false],
    ['/a/b/**', '/a', false],
    ['/**', '/', true],
    ['/**', '/a/b', true],
  ])('of the pattern %s, %s fits: %s', (text, path, fits) => {
    const pattern = parsePathPattern(text);
    expect(pattern && matchesPath(pattern, path)).toBe(fits);
  });

  it('is compared whether or not it begins with a slash', () => {
    expect(matchesPath(['v1', 'search'], 'v1/search')).toBe(true);
  });

  it('fits a segment of any text only as deep as encodings are undone', () => {
    expect(matchesPath(['*'], `/a${encoded('%2F', 7)}b`)).toBe(false);
    expect(matchesPath(['*'], `/a${encoded('%2F', 8)}b`)).toBe(true);
  });
});

describe('a path that could lead out of its base', () => {
  it.each([
    '/..',
    '/a/../b',
    '/a/.',
    '/./a',
    '/a/ ..',
    '/a/.. ',
    '/a/..;x=1/b',
    '/a/.. ;x',
    '/a/%2e%2e/b',
    '/a/%2E.',
    '/a%2F..%2Fb',
    '/a%5c..',
    '/a\\..\\b',
    '/a/%252e%252e',
    '/a%252F..',
    '/a/%00',
    '/a/b%0a',
    '/a/%7f',
    '/a/%1F',
    '/a/%zz',
    '/a/%',
    '/a/%ff',
    '/a/%252e%252e%252fadmin%25',
    '/a/%25252e%25252e%25252f%25',
    '/a/%252e%252e%252f%25ff',
    '/a/%25ff%252f%252e%252e',
    '/a/%25zz%252f..',
    '/a/%2500%25',
  ])('%s may leave', (path) => {
    expect(mayLeave(path)).toBe(true);
  });

  it.each([
    '/',
    '/a/b',
    '/a/...',
    '/a/..b',
    '/a/b..',
    '/a/.well-known',
    '/a/x;..',
    '/a/%20b',
    '/a/%2Fb',
    '/a/100%25',
    '/a/%25zz',
    '/a/50%25%2520off',
    '/a/%25ff',
    '/a/%C3%A9',
  ])('%s may not', (path) => {
    expect(mayLeave(path)).toBe(false);
  });

  it('is any that is encoded more often than is undone', () => {
    expect(mayLeave(`/${encoded('%61', 6)}`)).toBe(false);
    expect(mayLeave(`/${encoded('%61', 7)}`)).toBe(true);
  });
});
