import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toTarget, toUriText } from '../../src/apis/target.ts';
import { verifies } from '../requirements.ts';
import { makeApi } from './make-api.ts';
import { anyCharacter } from '../support/text/any-character.ts';

const BASES = [
  'https://api.example',
  'https://api.example/',
  'https://api.example/base',
  'https://api.example:8443/v1/deep/',
];

/** What the path means to a server that decodes it over and over and then takes its steps. */
function mostGenerousReading(path: string): string[] {
  let text = path;
  for (let round = 0; round < 12; round++) {
    text = text.replace(/%[0-9a-f]{2}/gi, (hex) =>
      String.fromCharCode(Number.parseInt(hex.slice(1), 16)),
    );
  }
  const walked: string[] = [];
  for (const part of text.split(/[/\\]/)) {
    const step = part.replace(/;.*$/s, '').trim();
    if (step === '..') walked.pop();
    else if (step !== '.') walked.push(part);
  }
  return walked;
}

/** Pieces that tricks are made of, and honest ones between them. */
const STEPS =
  '.. . %2e %2E%2e %252e %25252e / // %2f %5c \\ %252f ; ..;/ %c0%ae %u002e ．． %e2%80%a5';
const HOSTS = 'http://evil.example //evil.example @evil.example :80 [::1] https: @ :';
const PIECES = 'a files %20 %00 %0d%0a ? # % … ü { " < | ^ %zz %2 ~ *';
const piece = fc.constantFrom(...`${STEPS} ${HOSTS} ${PIECES}`.split(' '), ' ', '\t', '\n');
const tricky = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

describe('the address of a call', () => {
  it(
    verifies(
      'passthrough.path',
      'is at the host of the API and below its base path, whatever the path says, or is refused',
    ),
    () => {
      fc.assert(
        fc.property(
          fc.constantFrom(...BASES),
          fc.oneof(tricky, fc.string({ unit: anyCharacter }), fc.string()),
          fc.oneof(tricky, fc.string()),
          (base, path, search) => {
            const api = makeApi({ base_url: base });
            const address = {
              path: toUriText(`/${path}`, 'utf8'),
              search: toUriText(`?${search}`, 'utf8'),
            };
            let url: URL;
            try {
              url = toTarget(api, address);
            } catch {
              return;
            }
            const { origin, pathname } = new URL(base);
            const root = pathname.replace(/\/$/, '');
            expect(url.origin).toBe(origin);
            expect(url.username + url.password + url.hash).toBe('');
            expect(url.pathname).toBe(`${root}${address.path}`);
            const walked = mostGenerousReading(url.pathname);
            expect(walked.slice(0, root.split('/').length)).toEqual(root.split('/'));
            // What is written on the wire is read the same by who parses it again.
            const again = new URL(url.pathname + url.search, origin);
            expect(again.href).toBe(url.href);
          },
        ),
        { numRuns: 5000 },
      );
    },
  );

  it(verifies('passthrough.path', 'has every segment of an honest path as it came'), () => {
    const unreserved = 'abcXYZ019-_~!$&()*+,=:@';
    const escape = fc
      .integer({ min: 0x20, max: 0x7e })
      .map((code) => `%${code.toString(16).padStart(2, '0')}`);
    const segment = fc
      .array(fc.oneof(fc.constantFrom(...unreserved.split('')), escape), {
        minLength: 1,
        maxLength: 12,
      })
      .map((parts) => parts.join(''))
      // A level more of encoding is looked through, too.
      .filter((text) => !/\.|%2e|%2f|%5c|%25/i.test(text));
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 6 }), (segments) => {
        const path = `/${segments.join('/')}`;
        expect(toTarget(makeApi(), { path, search: '' }).pathname).toBe(`/base${path}`);
      }),
    );
  });

  it.each([
    '/..',
    '/a/../b',
    '/./a',
    '/%2e%2e/a',
    '/.%2E/a',
    '/%252e%252e/a',
    '/%25252e%25252e/a',
    '/a%2f..%2f..%2fadmin',
    '/a%5c..%5c..%5cadmin',
    '/a\\..\\..\\admin',
    '/..;/admin',
    '/..;jsessionid=1/admin',
    '/%2e%2e%3b/admin',
    '/a/%2e%2e%2f',
    '/..%20/a',
    '/a%00',
    '/a%0d%0ahost:%20evil',
    '/%c0%ae%c0%ae/a',
    '/%zz',
    '/%',
    '//evil.example/a',
  ])('is refused for %s', (path) => {
    const refused = () => toTarget(makeApi(), { path, search: '' });
    expect(refused).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it.each([
    ['', '/base'],
    ['/', '/base/'],
    ['/a//b', '/base/a//b'],
    ['/https://other.example/x', '/base/https://other.example/x'],
    ['/a%2Fb%20c/ü', '/base/a%2Fb%20c/%C3%BC'],
    ['/...', '/base/...'],
    ['/.well-known/x', '/base/.well-known/x'],
    ['/a/', '/base/a/'],
    ['/a"b{c}', '/base/a%22b%7Bc%7D'],
    ['/@evil.example:80/', '/base/@evil.example:80/'],
  ])('of %j is %s', (path, expected) => {
    const url = toTarget(makeApi(), { path: toUriText(path, 'utf8'), search: '' });
    expect(url.href).toBe(`https://api.example${expected}`);
  });

  it.each([
    ['?a=1&b=%20x&a=2&&c', '?a=1&b=%20x&a=2&&c'],
    ['?key=client&a=1', '?a=1'],
    ['?a=1&%6bey=client&k%65y=2&key', '?a=1'],
    ['?Key=vendor', '?Key=vendor'],
    ['?key=only', ''],
    ['?', ''],
    ['?q=a#b', '?q=a%23b'],
    ['?next=https://evil.example/../x', '?next=https://evil.example/../x'],
  ])('has the query %j as %j', (search, expected) => {
    const url = toTarget(makeApi(), { path: '/a', search: toUriText(search, 'utf8') });
    expect(url.search).toBe(expected);
  });

  it('has bytes of the query that are no ASCII as the bytes that they are', () => {
    const latin1 = Buffer.from('?q=ü').toString('latin1');
    const url = toTarget(makeApi(), { path: '/a', search: toUriText(latin1, 'latin1') });
    expect(url.search).toBe('?q=%C3%BC');
  });

  it("has the operator's query once, before and after the client's", () => {
    const api = makeApi({
      base_url: 'https://api.example/v1?version=7',
      auth: { type: 'query', name: 'key' },
    });
    const search = '?version=1&key=mine&q=x&%76ersion=2';
    expect(toTarget(api, { path: '/a', search }).search).toBe('?version=7&q=x&key=acme-secret');
  });

  it('is not there for a path that is not offered', () => {
    const api = makeApi({ paths: ['/v1/search', '/items/*', '/files/**'] });
    const isOffered = (path: string): boolean => {
      try {
        return toTarget(api, { path, search: '' }).pathname === `/base${path}`;
      } catch (error) {
        expect(error).toMatchObject({ code: 'not_found', status: 404 });
        return false;
      }
    };
    const offered = ['/v1/search', '/v1/%73earch', '/items/7', '/files/a/b', '/files/', '/files'];
    const others = ['', '/', '/v1', '/v1/search/', '/v1/searches', '/V1/search', '/items'];
    const deeper = ['/items/', '/items/a/b', '/items/a%2Fb', '/items/a%252Fb', '/items/a%5Cb'];
    expect(offered.filter((path) => !isOffered(path))).toEqual([]);
    expect([...others, ...deeper].filter(isOffered)).toEqual([]);
  });
});
