import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dataSource, toStandardBase64 } from '../../../src/protocols/media/data-source.ts';
import { fileName, mediaTypeOfName } from '../../../src/protocols/media/file-name.ts';
import { isPdf, readTextFile } from '../../../src/protocols/media/file-text.ts';

describe('bytes that a client sent', () => {
  it('are the same in standard base64, whichever alphabet the client used', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (array) => {
        const bytes = Buffer.from(array);
        const standard = bytes.toString('base64');
        expect(toStandardBase64(standard)).toBe(standard);
        const read = toStandardBase64(bytes.toString('base64url'));
        expect(Buffer.from(read, 'base64')).toEqual(bytes);
        expect(read).not.toMatch(/[-_]/);
      }),
    );
    expect(toStandardBase64('_9j_4AA')).toBe('/9j/4AA=');
  });

  it.each([
    ['image/jpg', 'image/jpeg'],
    ['Image/JPEG', 'image/jpeg'],
    ['application/x-pdf', 'application/pdf'],
    ['text/csv', 'text/csv'],
  ])('of the type %s are of the type %s', (given, mediaType) => {
    expect(dataSource(given, 'AAAA')).toEqual({ type: 'data', mediaType, data: 'AAAA' });
  });
});

describe('a file', () => {
  it.each([
    ['application/pdf', 'document.pdf'],
    ['application/octet-stream', 'document.pdf'],
    ['text/csv', 'document.csv'],
  ])('of the type %s without a name is %s', (mediaType, name) => {
    expect(fileName(mediaType)).toBe(name);
  });

  it.each([
    ['report.CSV', 'text/csv'],
    ['notes.md', 'text/markdown'],
    ['paper.pdf', 'application/pdf'],
    [undefined, 'application/pdf'],
  ])('named %s is of the type %s', (name, mediaType) => {
    expect(mediaTypeOfName(name)).toBe(mediaType);
  });

  it('is text when its bytes are', () => {
    const read = (bytes: Buffer, mediaType = 'application/octet-stream') =>
      readTextFile({ type: 'data', mediaType, data: bytes.toString('base64') });
    expect(read(Buffer.from('größer'))).toBe('größer');
    expect(read(Buffer.from('größer', 'latin1'), 'text/plain')).toBe('größer');
    expect(read(Buffer.from([0xff, 0xfe, 0]))).toBeUndefined();
    expect(read(Buffer.from('a\0b'))).toBeUndefined();
    expect(isPdf(Buffer.from('%PDF-1.7').toString('base64'))).toBe(true);
    expect(isPdf(Buffer.from('%PNG').toString('base64'))).toBe(false);
  });
});
