import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { GatewayError } from '../../src/core/errors.ts';
import { formContentType, writeForm } from '../../src/core/form.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { createSpools } from '../../src/core/memory/spool.ts';
import type { Spool, Spools } from '../../src/core/memory/spool.ts';
import { gatherBody } from '../../src/core/memory/spooled-body.ts';
import { FormReader } from '../../src/surfaces/form-reader.ts';
import { formText, readParts } from '../support/form-text.ts';
import type { WrittenPart } from '../support/form-text.ts';
import { anyCharacter } from '../support/text/any-character.ts';

const TYPE = 'multipart/form-data; boundary=b0und';
const PARTS: WrittenPart[] = [
  { name: 'prompt', content: 'a cat\r\n-- with a hat --\r\n' },
  { name: 'image[]', filename: 'ü.png', type: 'image/png', content: Buffer.from([0, 13, 10, 255]) },
  { name: 'image[]', filename: 'C:\\b.png', type: 'image/PNG; q="x"', content: '' },
  { name: 'mask', filename: '', content: 'no type' },
  { name: 'bytes', type: 'application/octet-stream', content: Buffer.from([255, 0]) },
  { name: 'model', content: 'grün' },
];

let directory: string;
let spools: Spools;
const used: Spool[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'form-'));
  spools = createSpools(directory, createIdSource(systemClock));
});
afterEach(() => Promise.all(used.splice(0).map((spool) => spool.dispose())));
afterAll(() => rm(directory, { recursive: true, force: true }));

function newReader(type: string): FormReader {
  const spool = spools.create();
  used.push(spool);
  return new FormReader(type, spool);
}

async function read(body: Buffer, sizes: readonly number[] = [body.length], type = TYPE) {
  const reader = newReader(type);
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const size = sizes[turn % sizes.length] || 1;
    await reader.write(body.subarray(at, at + size));
    at += size;
  }
  return reader.end();
}

/** The parts as they were read, with the bytes of the files. */
async function found(body: Buffer, sizes?: readonly number[]) {
  const parts = await read(body, sizes);
  return Promise.all(
    parts.map(async (part) => {
      if (part.value !== undefined) return [part.name, part.value];
      const { name, filename, contentType, content } = part;
      return [name, filename, contentType, await gatherBody(content, 1e6)];
    }),
  );
}

async function codeOf(body: Buffer | string, sizes?: readonly number[]): Promise<string> {
  try {
    await read(Buffer.from(body as string), sizes);
    return 'none';
  } catch (error) {
    return error instanceof GatewayError ? error.code : String(error);
  }
}

describe('a form', () => {
  it('has the parts of its body, in their order', async () => {
    expect(await found(formText('b0und', PARTS))).toEqual([
      ['prompt', 'a cat\r\n-- with a hat --\r\n'],
      ['image[]', 'ü.png', 'image/png', Buffer.from([0, 13, 10, 255])],
      ['image[]', 'C:\\b.png', 'image/PNG; q="x"', Buffer.alloc(0)],
      ['mask', '', undefined, Buffer.from('no type')],
      ['bytes', undefined, 'application/octet-stream', Buffer.from([255, 0])],
      ['model', 'grün'],
    ]);
  });

  it('is the same however it is cut', async () => {
    const body = formText('b0und', PARTS);
    const whole = await found(body);
    for (let at = 0; at < body.length; at++)
      expect(await found(body, [at, body.length])).toEqual(whole);
    expect(await found(body, [1])).toEqual(whole);
  });

  it.each(['\r\n', '\r\n\r\n', '\n\r\n'])('may begin with empty lines: %j', async (lines) => {
    const body = formText('b0und', PARTS);
    const whole = await found(body);
    const late = Buffer.concat([Buffer.from(lines), body]);
    for (const sizes of [[late.length], [1], [2], [3]])
      expect(await found(late, sizes)).toEqual(whole);
  });

  it('has the bytes of every file, however large', async () => {
    const files = [70_000, 0, 1, 40_000, 16_384, 65_536].map((length, index) => ({
      name: 'image',
      filename: String(index),
      content: Buffer.alloc(length, `${index}\r\n--b0un`),
    }));
    const body = formText('b0und', files);
    for (const sizes of [[1000], [16_384], [65_536], [65_536, 1, 20_000], [body.length]]) {
      const contents = (await found(body, sizes)).map((part) => part[3] as Buffer);
      expect(contents.map((bytes, at) => bytes.equals(files[at]?.content as Buffer))).toEqual(
        files.map(() => true),
      );
    }
  });

  it('is written again with what another reader finds in it', async () => {
    const name = fc.string({ unit: anyCharacter }).filter((value) => /^[^\\\p{Cc}]+$/u.test(value));
    const file = fc.record({
      name,
      filename: fc.string({ unit: anyCharacter }).filter((value) => !/\\(?:["\\]|$)/.test(value)),
      type: fc.constantFrom('image/png', 'image/svg+xml; charset=utf-8', 'text/plain', 'a/b', ''),
      content: fc.uint8Array({ maxLength: 50 }),
    });
    const field = fc.record({ name, content: fc.string({ unit: anyCharacter }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(file, field), { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        async (parts, sizes) => {
          const data = new FormData();
          for (const part of parts) {
            if (!('type' in part)) data.append(part.name, part.content);
            else data.append(part.name, new File([part.content], part.filename, part));
          }
          const sent = new Response(data);
          const type = sent.headers.get('content-type') ?? '';
          const body = Buffer.from(await sent.arrayBuffer());
          const form = { boundary: 'own', parts: await read(body, sizes, type) };
          const written = await gatherBody(writeForm(form, { values: {} }), 1e6);
          expect(await readParts(formContentType(form), written as Buffer)).toEqual(
            await readParts(type, body),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('is read or refused, never left without an answer, whatever is done to it', async () => {
    const valid = formText('b0und', [
      ...PARTS,
      { name: 'large', filename: 'l', content: Buffer.alloc(150_000, 'x\r\n-') },
    ]);
    const pieces = [
      '\r\n--b0und\r\n',
      '\r\n\r\n',
      '\n',
      '--',
      '\r\n--b0und--',
      '\0'.repeat(70_000),
    ];
    const change = fc.record({
      at: fc.oneof(fc.nat(1000), fc.nat(valid.length)),
      remove: fc.nat(20),
      add: fc.oneof(
        fc.uint8Array({ maxLength: 10 }),
        fc.constantFrom(...pieces.map((text) => Buffer.from(text))),
      ),
    });
    const size = fc.oneof(
      fc.integer({ min: 500, max: 5000 }),
      fc.integer({ max: 70_000, min: 1000 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 3 }),
        fc.array(size, { minLength: 1 }),
        async (changes, sizes) => {
          let body = valid;
          for (const { at, remove, add } of changes)
            body = Buffer.concat([body.subarray(0, at), add, body.subarray(at + remove)]);
          expect(['none', 'invalid_request']).toContain(await codeOf(body, sizes));
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('the name of a file in two forms', () => {
  const UTF_8 = `filename*=utf-8''r%C3%A9sum%C3%A9.txt`;
  it.each([
    ['alone', `name="f"; ${UTF_8}`, 'résumé.txt'],
    ['of .NET', `name=f; filename="=?utf-8?B?csOpc3Vtw6kudHh0?="; ${UTF_8}`, 'résumé.txt'],
    ['with the name in quotes', `name="f"; filename="resume.txt"; ${UTF_8}`, 'résumé.txt'],
    ['in the other order', `${UTF_8}; name="f"; filename="resume.txt"`, 'résumé.txt'],
    ['without quotes', `name=f; filename=resume.txt; ${UTF_8}`, 'résumé.txt'],
    ['in upper case', `name="f"; FileName="r.txt"; FILENAME*=UTF-8'en'%C3%A9.txt`, 'é.txt'],
    ['in Latin-1', `name="f"; filename="r.txt"; filename*=iso-8859-1''%E9.txt`, 'é.txt'],
    ['in quotes', `name="f"; filename="r.txt"; filename*="utf-8''%C3%A9.txt"`, 'é.txt'],
    ['that is cut', `name="f"; filename="r.txt"; filename*=utf-8''%C3.txt`, 'r.txt'],
    ['that is none', `filename*=%C3%A9.txt; name="f"; filename="r.txt"`, 'r.txt'],
    ['in an unknown set', `name=f; filename="r.txt"; filename*=utf-7''a.txt`, 'r.txt'],
    ['inside another name', `name="f"; filename="a; filename*=utf-8''b"`, "a; filename*=utf-8''b"],
  ])('is the extended one where that can be read: %s', async (_, parameters, filename) => {
    const head = `Content-Disposition: form-data; ${parameters}`;
    const body = `--b0und\r\n${head}\r\nContent-Type: text/plain\r\n\r\nv\r\n--b0und--\r\n`;
    expect(await found(Buffer.from(body))).toEqual([
      ['f', filename, 'text/plain', Buffer.from('v')],
    ]);
  });
});

const HEAD = 'Content-Disposition: form-data; name="a"';
const LARGE = 'x'.repeat(200_000);
const around = (head: string, content = 'v'): string =>
  `--b0und\r\n${head}\r\n\r\n${content}\r\n--b0und--\r\n`;
const disposition = (rest: string): string => around(`Content-Disposition: ${rest}`);

describe('a malformed form is refused', () => {
  it.each([
    ['nothing', ''],
    ['no delimiter', 'hello'],
    ['a large text in front', `${LARGE}\r\n${around(HEAD)}`],
    ['a line of text in front', `x\r\n${around(HEAD)}`],
    ['empty lines alone', '\r\n\r\n'],
    ['no end', `--b0und\r\n${HEAD}\r\n\r\nv\r\n--b0und`],
    ['an end in the middle of a field', `--b0und\r\n${HEAD}\r\n\r\nv`],
    ['an end in the middle of a file', `--b0und\r\n${HEAD}; filename="f"\r\n\r\nv`],
    ['an end in the middle of a head', `--b0und\r\n${HEAD}`],
    ['a delimiter in a head', `--b0und\r\n${HEAD}\r\n${around(HEAD)}`],
    ['a delimiter behind a head', `--b0und\r\n${HEAD}\r\n--b0und--`],
    ['no head', '--b0und\r\n\r\nv\r\n--b0und--'],
    ['a longer word for a delimiter', `--b0undary\r\n${HEAD}\r\n\r\nv\r\n--b0und--`],
    ['no content disposition', around('Content-Type: text/plain')],
    ['no content disposition of a large part', around('Content-Type: text/plain', LARGE)],
    ['another disposition', disposition('attachment; name="a"')],
    ['no name', disposition('form-data')],
    ['no name of a file', disposition('form-data; filename="f"')],
    ['an empty name', disposition('form-data; name=""')],
    ['an escape in a name', disposition('form-data; name="mo\\del"')],
    ['a zero byte in a name', disposition('form-data; name="model\0"')],
    ['an escaped quote', disposition('form-data; name="a"; filename="b\\"; c"')],
    ['an escaped backslash', disposition('form-data; name="a"; filename="b\\\\"')],
    ['a backslash before the quote', disposition("form-data; name=a; filename*=utf-8''b%5c")],
    ['a line end in a name', disposition("form-data; name=a; filename*=utf-8''b%0ac")],
    ['an encoded part', around(`${HEAD}\r\nContent-Transfer-Encoding: base64`)],
    ['a type with other bytes', around(`${HEAD}; filename="f"\r\nContent-Type: a/ü`)],
    ['a head without end', `--b0und\r\n${HEAD}\r\nx: ${LARGE}`],
    ['a long head', around(`${HEAD}\r\nx: ${'y'.repeat(17_000)}`)],
    ['a long head of short lines', around(HEAD + '\r\nx:'.repeat(5000))],
    ['too many parts', `--b0und\r\n${`${HEAD}\r\n\r\nv\r\n--b0und\r\n`.repeat(257)}`],
    [
      'too many parts and a large one',
      `--b0und\r\n${`${HEAD}\r\n\r\nv\r\n--b0und\r\n`.repeat(256)}${HEAD}\r\n\r\n${LARGE}\r\n--b0und--`,
    ],
  ])('for %s', async (_, body) => {
    expect(await codeOf(body)).toBe('invalid_request');
    expect(await codeOf(body, [4096])).toBe('invalid_request');
    expect(await codeOf(body, [65_536])).toBe('invalid_request');
  });

  it('as too large for more text than a megabyte in all its fields together', async () => {
    const field = (name: string, kib: number): WrittenPart => ({
      name,
      content: 'x'.repeat(kib * 1024),
    });
    const codeFor = (...parts: WrittenPart[]) => codeOf(formText('b0und', parts), [65_536]);
    expect(await codeFor(field('a', 600))).toBe('none');
    expect(await codeFor(field('a', 600), field('b', 600))).toBe('body_too_large');
    expect(await codeFor(field('a', 3000))).toBe('body_too_large');
  });
});

it('passes over what follows the end of a form', async () => {
  const body = Buffer.concat([formText('b0und', PARTS), Buffer.from(LARGE)]);
  for (const size of [100, 4096, body.length])
    expect(await read(body, [size])).toHaveLength(PARTS.length);
});

it('refuses a content type without a boundary, or with one that is none', () => {
  for (const boundary of ['', '; boundary', `; boundary=${'a'.repeat(300)}`])
    expect(() => newReader(`multipart/form-data${boundary}`)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
});
