import { Busboy } from '@fastify/busboy';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBoundary } from '../../src/core/form-head.ts';
import { FormScanner } from '../../src/core/form-scanner.ts';
import { formText } from '../support/form-text.ts';
import type { WrittenPart } from '../support/form-text.ts';

const PARTS: WrittenPart[] = [
  { name: 'prompt', content: 'a cat\r\n-- with a hat --\r\n' },
  { name: 'image[]', filename: 'ü.png', type: 'image/png', content: Buffer.from([0, 13, 10, 255]) },
  { name: 'image[]', filename: 'b.png', type: 'image/PNG; q="x"', content: '' },
  { name: 'model', content: 'acme/paint' },
];

function scan(chunks: readonly Buffer[], boundary = 'b0und') {
  const scanner = new FormScanner(boundary);
  for (const chunk of chunks) scanner.push(chunk);
  return scanner.end();
}

function codeOf(body: Buffer | string): string | undefined {
  try {
    scan([Buffer.from(body as string)]);
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const cut = (body: Buffer, sizes: readonly number[]): Buffer[] => {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    if (at >= body.length) break;
    chunks.push(body.subarray(at, (at += size)));
  }
  return [...chunks, body.subarray(at)];
};

describe('a form', () => {
  it('is found with every part in its place', () => {
    const body = formText('b0und', PARTS);
    const { parts, closeAt } = scan([body]);
    expect(
      parts.map(({ name, filename, contentType, isText }) => [name, filename, contentType, isText]),
    ).toEqual([
      ['prompt', undefined, undefined, true],
      ['image[]', 'ü.png', 'image/png', false],
      ['image[]', 'b.png', 'image/PNG; q="x"', false],
      ['model', undefined, undefined, true],
    ]);
    parts.forEach((part, index) => {
      const content = Buffer.from(PARTS[index]?.content as string);
      expect(body.subarray(part.start, part.end).equals(content)).toBe(true);
      expect(body.subarray(part.nameStart, part.nameEnd).toString()).toBe(part.name);
      expect(body.subarray(part.from, part.from + 7).toString()).toBe('--b0und');
      expect(part.end + 2).toBe(parts[index + 1]?.from ?? closeAt);
    });
  });

  it('is the same however it is cut', () => {
    const body = formText('b0und', PARTS);
    const whole = scan([body]);
    for (let at = 0; at <= body.length; at++) {
      expect(scan([body.subarray(0, at), body.subarray(at)])).toEqual(whole);
    }
    expect(scan([...body].map((byte) => Buffer.from([byte])))).toEqual(whole);
  });

  it('has the parts that another parser finds in it', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', '-', '\r', '\n', 'b0und', ' ', '"', 'é') });
    const part = fc.record(
      {
        name: fc.stringMatching(/^[a-z][a-z0-9_[\]]{0,8}$/),
        filename: fc.stringMatching(/^[a-z0-9 ._-]{1,8}$/),
        content: text.filter((value) => !value.includes('--b0und')),
      },
      { requiredKeys: ['name', 'content'] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 1, maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 40 })),
        async (written, sizes) => {
          const body = formText('b0und', written);
          const found = scan(cut(body, sizes)).parts.map(({ name, filename, start, end }) => ({
            name,
            filename,
            content: body.subarray(start, end).toString(),
          }));
          const sortKey = (one: object): string => JSON.stringify(one);
          expect(found.map(sortKey).sort()).toEqual(
            (await readWithBusboy(body)).map(sortKey).sort(),
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  it('is read or refused, never a crash, whatever is done to it', () => {
    const valid = formText('b0und', PARTS);
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            at: fc.nat(valid.length),
            remove: fc.nat(20),
            add: fc.oneof(
              fc.uint8Array({ maxLength: 10 }),
              fc.constantFrom(Buffer.from('\r\n--b0und\r\n'), Buffer.from('\n')),
            ),
          }),
          { maxLength: 3 },
        ),
        (changes) => {
          let body = valid;
          for (const { at, remove, add } of changes)
            body = Buffer.concat([body.subarray(0, at), add, body.subarray(at + remove)]);
          expect([undefined, 'invalid_request']).toContain(codeOf(body));
        },
      ),
    );
  });
});

const HEAD = 'Content-Disposition: form-data; name="a"';

describe('a malformed form is refused', () => {
  it.each([
    ['nothing', ''],
    ['no delimiter', 'hello'],
    ['a text in front', `x\r\n--b0und\r\n${HEAD}\r\n\r\nv\r\n--b0und--`],
    ['no end', `--b0und\r\n${HEAD}\r\n\r\nv\r\n--b0und`],
    ['an end in the middle of a part', `--b0und\r\n${HEAD}\r\n\r\nv`],
    ['something behind the end', `--b0und\r\n${HEAD}\r\n\r\nv\r\n--b0und--\r\n--b0und\r\n`],
    ['the boundary in a line', `--b0und\r\n${HEAD}\r\n\r\nv--b0und\r\nw\r\n--b0und--`],
    ['the boundary after a bare LF', `--b0und\r\n${HEAD}\r\n\r\nv\n--b0und\r\nw\r\n--b0und--`],
    [
      'the boundary at the beginning of a longer word',
      `--b0und\r\n${HEAD}\r\n\r\nv\r\n--b0undary\r\n--b0und--`,
    ],
    ['the boundary in a head', `--b0und\r\n${HEAD}\r\nx: --b0und\r\n\r\nv\r\n--b0und--`],
    ['a space behind a delimiter', `--b0und \r\n${HEAD}\r\n\r\nv\r\n--b0und--`],
    ['no head', '--b0und\r\n\r\nv\r\n--b0und--'],
    ['no content disposition', '--b0und\r\nContent-Type: text/plain\r\n\r\nv\r\n--b0und--'],
    [
      'another disposition',
      '--b0und\r\nContent-Disposition: attachment; name="a"\r\n\r\nv\r\n--b0und--',
    ],
    ['no name', '--b0und\r\nContent-Disposition: form-data\r\n\r\nv\r\n--b0und--'],
    ['an empty name', '--b0und\r\nContent-Disposition: form-data; name=""\r\n\r\nv\r\n--b0und--'],
    [
      'two names',
      '--b0und\r\nContent-Disposition: form-data; name="a"; name="b"\r\n\r\nv\r\n--b0und--',
    ],
    ['an extended name', `--b0und\r\n${HEAD}; name*=utf-8''b\r\n\r\nv\r\n--b0und--`],
    [
      'an escape in a name',
      '--b0und\r\nContent-Disposition: form-data; name="a\\b"\r\n\r\nv\r\n--b0und--',
    ],
    [
      'an escaped quote',
      '--b0und\r\nContent-Disposition: form-data; name="a"; filename="b\\"; c"\r\n\r\nv\r\n--b0und--',
    ],
    ['two dispositions', `--b0und\r\n${HEAD}\r\n${HEAD}\r\n\r\nv\r\n--b0und--`],
    [
      'a folded header',
      '--b0und\r\nContent-Disposition: form-data;\r\n name="a"\r\n\r\nv\r\n--b0und--',
    ],
    [
      'a header with a bare LF',
      '--b0und\r\nX: y\nContent-Disposition: form-data; name="b"\r\n\r\nv\r\n--b0und--',
    ],
    [
      'a space in front of a colon',
      '--b0und\r\nContent-Disposition : form-data; name="b"\r\n\r\nv\r\n--b0und--',
    ],
    [
      'an encoded part',
      `--b0und\r\n${HEAD}\r\nContent-Transfer-Encoding: base64\r\n\r\ndg==\r\n--b0und--`,
    ],
    ['a head without end', `--b0und\r\n${HEAD}\r\nx: ${'y'.repeat(20_000)}`],
    ['too many parts', `--b0und\r\n${`${HEAD}\r\n\r\nv\r\n--b0und\r\n`.repeat(257)}`],
  ])('for %s', (_, body) => {
    expect(codeOf(body)).toBe('invalid_request');
  });

  it('as too large for more text than a megabyte in all its fields together', () => {
    const half = 'x'.repeat(600 * 1024);
    const field = (name: string): WrittenPart => ({ name, content: half });
    expect(codeOf(formText('b0und', [field('a')]))).toBeUndefined();
    expect(codeOf(formText('b0und', [field('a'), field('b')]))).toBe('body_too_large');
    expect(
      codeOf(formText('b0und', [{ ...field('a'), filename: 'a' }, field('b')])),
    ).toBeUndefined();
  });
});

describe('the boundary of a form', () => {
  it.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data ;charset=utf-8; Boundary="a b:c"', 'a b:c'],
  ])('is read from %s', (type, boundary) => {
    expect(readBoundary(type)).toBe(boundary);
  });

  it.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="a "',
    'multipart/form-data; boundary=a; boundary=b',
    `multipart/form-data; boundary=${'a'.repeat(71)}`,
    'multipart/form-data; boundary=a{b',
    'multipart/mixed; boundary=a',
  ])('is refused in %s', (type) => {
    expect(() => readBoundary(type)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});

interface Read {
  name: string;
  filename: string | undefined;
  content: string;
}

function readWithBusboy(body: Buffer): Promise<Read[]> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b0und' };
    const busboy = new Busboy({ headers, preservePath: true });
    const found: Read[] = [];
    busboy.on('field', (name, value) => found.push({ name, filename: undefined, content: value }));
    busboy.on('file', (name, stream, filename) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () =>
        found.push({ name, filename, content: Buffer.concat(chunks).toString() }),
      );
    });
    busboy.on('finish', () => resolve(found));
    busboy.on('error', reject);
    busboy.end(body);
  });
}
