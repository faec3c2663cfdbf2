import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRequestHead } from '../../../src/upstream/http1/request-head.ts';
import type { UpstreamRequest } from '../../../src/upstream/transport.ts';
import { anyCharacter } from '../../support/text/any-character.ts';

function head(request: Partial<UpstreamRequest> = {}): string {
  const url = new URL('http://host.test:8080/a/b?c=d%20e');
  return createRequestHead(
    { url, method: 'POST', headers: [], body: undefined, ...request },
    url.host,
  );
}

describe('a request head', () => {
  it('has target, host, headers and length', () => {
    expect(
      head({ headers: ['x-a', 'b', 'accept-encoding', 'gzip'], body: Buffer.from('grüße') }),
    ).toBe(
      [
        'POST /a/b?c=d%20e HTTP/1.1',
        'host: host.test:8080',
        'connection: keep-alive',
        'x-a: b',
        'accept-encoding: gzip',
        'content-length: 7',
        '',
        '',
      ].join('\r\n'),
    );
  });

  it.each([
    ['POST', true],
    ['PUT', true],
    ['PATCH', true],
    ['GET', false],
    ['DELETE', false],
    ['HEAD', false],
  ] as const)('of %s says that there is no body: %s', (method, expected) => {
    expect(head({ method }).includes('content-length: 0\r\n')).toBe(expected);
  });

  it('of HEAD does not ask for the connection to be kept', () => {
    expect(head({ method: 'HEAD' })).toContain('connection: close\r\n');
  });

  it.each([
    'host',
    'connection',
    'content-length',
    'Transfer-Encoding',
    'keep-alive',
    'upgrade',
    'expect',
    'te',
    'trailer',
  ])('has %s from nobody but the transport', (name) => {
    expect(() => head({ headers: [name, '1'] })).toThrow(TypeError);
  });

  it.each(['a\r\nx: y', 'a\nb', 'a\rb', 'a\0b', 'a\x7fb', 'a\x1bb', '\u0130', 'a\u{1f600}'])(
    'refuses the value %j',
    (value) => {
      expect(() => head({ headers: ['x-a', value] })).toThrow(TypeError);
    },
  );

  it.each(['', 'x y', 'x:', 'x\r\ny', 'x\0', '\u00fc', '(x)'])('refuses the name %j', (name) => {
    expect(() => head({ headers: [name, 'a'] })).toThrow(TypeError);
  });

  it('refuses a method or a target that would be read as more than that', () => {
    expect(() => head({ method: 'GET / HTTP/1.1\r\nx: y' as 'GET' })).toThrow(TypeError);
    const url = { pathname: '/a\r\nx: y', search: '', host: 'h' } as URL;
    expect(() => head({ url })).toThrow(TypeError);
  });

  it('never has a line that was not asked for, whatever is in names, values and URL', () => {
    fc.assert(
      fc.property(
        fc.webUrl({ withQueryParameters: true }),
        fc.array(fc.string({ unit: anyCharacter }), { maxLength: 6 }),
        (address, texts) => {
          const url = new URL(address);
          let written: string;
          try {
            written = head({ url, headers: texts.flatMap((text) => ['x-a', text]) });
          } catch (error) {
            expect(error).toBeInstanceOf(TypeError);
            return;
          }
          const lines = written.split(/[\r\n]+/);
          expect(lines).toHaveLength(texts.length + 6);
          expect(Buffer.byteLength(written, 'latin1')).toBe(written.length);
        },
      ),
      { numRuns: 40 },
    );
  });
});
