import { describe, expect, it } from 'vitest';
import { parse } from './parse.ts';
import type { Parsed } from './parse.ts';

function read(text: string, options?: { method?: string }): Parsed {
  return parse([Buffer.from(text, 'latin1')], options);
}

function headed(...lines: string[]): string {
  return ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n');
}

const chunked = (body: string): string => `${headed('transfer-encoding: chunked')}${body}`;

describe('a head', () => {
  it('is read with names in lower case, values without blanks around and repeated ones together', () => {
    const { head } = read(
      headed('Content-Type:text/plain', 'X-A: \t one \t', 'x-empty:', 'X-Two: a', 'x-two: b, c'),
    );
    expect(head?.status).toBe(200);
    expect({ ...head?.headers }).toEqual({
      'content-type': 'text/plain',
      'x-a': 'one',
      'x-empty': '',
      'x-two': ['a', 'b, c'],
    });
  });

  it('cannot reach what objects inherit', () => {
    const { head } = read(headed('__proto__: a', 'constructor: b', 'toString: c', '__proto__: d'));
    expect(Object.entries(head?.headers ?? {})).toEqual([
      ['__proto__', ['a', 'd']],
      ['constructor', 'b'],
      ['tostring', 'c'],
    ]);
  });

  it.each(['HTTP/1.1 200', 'HTTP/1.1 200 ', 'HTTP/1.0 200 OK', 'HTTP/1.1 200 gr\xfc\xdfe: x'])(
    'may begin with "%s"',
    (line) => expect(read(`${line}\r\n\r\n`).head?.status).toBe(200),
  );

  it('of informational answers is skipped', () => {
    const { head, outcome } = read(
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${headed('content-length: 0')}`,
    );
    expect(head?.status).toBe(200);
    expect(head?.headers['link']).toBeUndefined();
    expect(outcome).toBe('complete');
  });

  it.each([
    ['another protocol', 'SSH-2.0-x', 'bad status line'],
    ['HTTP/2', 'HTTP/2 200\r\n\r\n', 'bad status line'],
    ['a later minor version', 'HTTP/1.2 200 OK\r\n\r\n', 'bad status line'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n', 'bad status line'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'bad status line'],
    ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n', 'bad status line'],
    ['two spaces before the status', 'HTTP/1.1  200 OK\r\n\r\n', 'bad status line'],
    ['an empty first line', '\r\nHTTP/1.1 200 OK\r\n\r\n', 'bad status line'],
    ['a switch of protocols', 'HTTP/1.1 101 Switch\r\n\r\n', 'unasked switch of protocols'],
    ['a lone LF', 'HTTP/1.1 200 OK\ncontent-length: 0\r\n\r\n', 'control character in the head'],
    ['a lone CR', headed('x: a\rb'), 'lone CR in the head'],
    ['a NUL', headed('x: a\0b'), 'control character in the head'],
    ['a DEL', headed('x: a\x7fb'), 'control character in the head'],
    ['a folded line', headed('x: a', ' b'), 'bad header line'],
    ['a folded first line', headed(' x: a'), 'bad header line'],
    ['a space before the colon', headed('x : a'), 'bad header line'],
    ['a header without a colon', headed('x-a'), 'bad header line'],
    ['a colon on the next line only', headed('x-a', 'x-b: 1'), 'bad header line'],
    ['a header without a name', headed(': a'), 'bad header line'],
    ['a name that is no token', headed('x(y): a'), 'bad header line'],
    ['two lengths', headed('content-length: 1', 'content-length: 2'), 'several content lengths'],
    ['a length twice', headed('content-length: 1', 'content-length: 1'), 'several content lengths'],
    ['a list of lengths', headed('content-length: 1, 1'), 'bad content length'],
    ['a signed length', headed('content-length: +1'), 'bad content length'],
    ['a negative length', headed('content-length: -1'), 'bad content length'],
    ['a hexadecimal length', headed('content-length: 0x1'), 'bad content length'],
    ['an empty length', headed('content-length:'), 'bad content length'],
    ['a huge length', headed(`content-length: ${'9'.repeat(16)}`), 'bad content length'],
    [
      'a length beside chunks',
      headed('content-length: 1', 'transfer-encoding: chunked'),
      'both length and transfer coding',
    ],
    ['another coding', headed('transfer-encoding: gzip'), 'unknown transfer coding'],
    ['a list of codings', headed('transfer-encoding: gzip, chunked'), 'unknown transfer coding'],
    ['a disguised coding', headed('transfer-encoding: \x0bchunked'), 'control character'],
    [
      'a coding twice',
      headed('transfer-encoding: chunked', 'transfer-encoding: chunked'),
      'unknown transfer coding',
    ],
    [
      'chunks in HTTP/1.0',
      'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
      'chunked in HTTP/1.0',
    ],
    [
      'too many headers',
      headed(...Array.from({ length: 257 }, (_, n) => `x-${n}: 1`)),
      'too many headers',
    ],
    ['too long a head', headed(`x: ${'x'.repeat(64 * 1024)}`), 'head too large'],
    ['a head without an end', `HTTP/1.1 200 ${'x'.repeat(64 * 1024)}`, 'head too large'],
    [
      'informational answers without an end',
      `HTTP/1.1 103 Hints\r\nx: ${'x'.repeat(1000)}\r\n\r\n`.repeat(66),
      'head too large',
    ],
  ])('with %s is refused', (_name, text, error) => {
    const parsed = read(text);
    expect(parsed.outcome).toBe('error');
    expect(parsed.error).toContain(error);
    expect(parsed.head).toBeUndefined();
  });

  it('of 256 headers and nearly 64 KiB is read', () => {
    const lines = Array.from({ length: 256 }, (_, n) => `x-${n}: ${'x'.repeat(240)}`);
    expect(Object.keys(read(headed(...lines)).head?.headers ?? {})).toHaveLength(256);
  });
});

describe('a body', () => {
  it('with a length ends there', () => {
    expect(read(`${headed('content-length: 4')}body`)).toMatchObject({
      outcome: 'complete',
      body: 'body',
      left: 0,
    });
  });

  it('does not take the bytes after it', () => {
    expect(read(`${headed('content-length: 4')}bodyHTTP`)).toMatchObject({ body: 'body', left: 1 });
    expect(read(chunked('4\r\nbody\r\n0\r\n\r\nHTTP'))).toMatchObject({ body: 'body', left: 1 });
    expect(read(`${headed('content-length: 0')}x`)).toMatchObject({ body: '', left: 1 });
  });

  it('without a length ends with the connection', () => {
    const parsed = read(`${headed()}all of it`);
    expect(parsed).toMatchObject({ outcome: 'complete', body: 'all of it' });
    expect(parsed.head?.persistent).toBe(false);
  });

  it.each([
    ['204', 'POST'],
    ['304', 'POST'],
    ['200', 'HEAD'],
    ['404', 'HEAD'],
  ])('is not there with status %s of %s, whatever the head says', (status, method) => {
    for (const line of ['content-length: 10', 'transfer-encoding: chunked', 'x: y']) {
      const parsed = read(`HTTP/1.1 ${status} OK\r\n${line}\r\n\r\n`, { method });
      expect(parsed).toMatchObject({ outcome: 'complete', body: '', left: 0 });
    }
  });

  it('of chunks is put together, extensions and trailers left out', () => {
    const parsed = read(
      chunked('4;a=b;c="d e"\r\nfour\r\n00A \t;x\r\n0123456789\r\n000;last\r\nx: y\r\nz:\r\n\r\n'),
    );
    expect(parsed).toMatchObject({ outcome: 'complete', body: 'four0123456789', left: 0 });
    expect({ ...parsed.head?.headers }).toEqual({ 'transfer-encoding': 'chunked' });
  });

  it.each([
    ['no size', '\r\nabc', 'bad chunk size'],
    ['a size that is no number', 'g\r\n', 'bad chunk size'],
    ['a size with a prefix', '0x4\r\nfour\r\n', 'bad chunk size'],
    ['a negative size', '-4\r\nfour\r\n', 'bad chunk size'],
    ['a blank before the size', ' 4\r\nfour\r\n', 'bad chunk size'],
    ['a size that overflows', `${'f'.repeat(14)}\r\n`, 'chunk too large'],
    ['a size that would wrap around', `1${'0'.repeat(16)}4\r\nfour\r\n`, 'chunk too large'],
    ['a size without an end', '0'.repeat(5000), 'chunk extensions too large'],
    ['a lone LF after the size', '4\nfour\r\n', 'bad chunk size'],
    ['a lone LF in an extension', '4;a\nfour\r\n', 'control character between chunks'],
    ['a lone CR after the size', '4\rxfour\r\n', 'bad end of a chunk'],
    ['an extension without an end', `4;${'x'.repeat(5000)}`, 'chunk extensions too large'],
    ['a longer chunk than said', '4\r\nfours\r\n', 'bad end of a chunk'],
    ['a shorter chunk than said', '4\r\nfou\r\n0\r\n\r\n', 'bad end of a chunk'],
    ['a lone LF after a chunk', '4\r\nfour\n0\r\n\r\n', 'bad end of a chunk'],
    ['a lone LF in a trailer', '0\r\nx: y\nz\r\n\r\n', 'control character between chunks'],
    ['trailers without an end', `0\r\n${'x: y\r\n'.repeat(14_000)}`, 'trailers too large'],
  ])('of chunks with %s is refused', (_name, body, error) => {
    const parsed = read(chunked(body));
    expect(parsed.outcome).toBe('error');
    expect(parsed.error).toContain(error);
  });

  it('that turns bad is passed on up to there', () => {
    expect(read(chunked('4\r\nhalf\r\n3\r\nandzz')).body).toBe('halfand');
  });

  it('of more bytes than a 32-bit number counts is not mistaken for a short one', () => {
    const length = 2 ** 32 + 4;
    expect(read(`${headed(`content-length: ${length}`)}body`).outcome).toBe('incomplete');
    expect(read(chunked(`${length.toString(16)}\r\nbody\r\n0\r\n\r\n`)).outcome).toBe('incomplete');
  });
});

describe('a connection', () => {
  it.each([
    ['HTTP/1.1', [], true],
    ['HTTP/1.1', ['connection: close'], false],
    ['HTTP/1.1', ['connection: x, CLOSE'], false],
    ['HTTP/1.1', ['connection: x', 'connection: close'], false],
    ['HTTP/1.1', ['connection: closed'], true],
    ['HTTP/1.0', [], false],
    ['HTTP/1.0', ['connection: Keep-Alive'], true],
    ['HTTP/1.0', ['connection: keep-alive, close'], false],
  ])('of %s with %j can be used again: %s', (version, lines, expected) => {
    const { head } = read(
      [`${version} 200 OK`, 'content-length: 0', ...lines, '', ''].join('\r\n'),
    );
    expect(head?.persistent).toBe(expected);
  });

  it('is not used again after an answer whose body may come all the same', () => {
    expect(read('HTTP/1.1 204 No\r\ncontent-length: 4\r\n\r\n').head?.persistent).toBe(false);
    expect(read('HTTP/1.1 204 No\r\ncontent-length: 0\r\n\r\n').head?.persistent).toBe(true);
    expect(read('HTTP/1.1 204 No\r\n\r\n').head?.persistent).toBe(true);
    expect(read(headed('content-length: 4'), { method: 'HEAD' }).head?.persistent).toBe(false);
  });

  it.each([
    ['timeout=5', 5000],
    ['max=100, Timeout = 7', 7000],
    ['max=100', undefined],
    ['timeout=soon', undefined],
  ])('is kept as "keep-alive: %s" says: %s ms', (value, expected) => {
    expect(read(headed(`keep-alive: ${value}`)).head?.keepAliveMs).toBe(expected);
  });
});
