import { describe, expect, it } from 'vitest';
import { formContentType, readGuardedField, writeForm } from '../../src/core/form.ts';
import type { Form, FormEdits } from '../../src/core/form.ts';
import { fromBytes, gatherBody } from '../../src/core/memory/spooled-body.ts';
import { formText, readParts, toForm } from '../support/form-text.ts';
import type { WrittenPart } from '../support/form-text.ts';

const FILE: WrittenPart = { name: 'image', filename: 'a.png', content: Buffer.from([0, 255, 13]) };
const MODEL: WrittenPart = { name: 'model', content: 'acme/paint' };
const PROMPT: WrittenPart = { name: 'prompt', content: 'a cat' };

async function bytesOf(form: Form, edits: Partial<FormEdits> = {}): Promise<Buffer> {
  const body = writeForm(form, { values: {}, ...edits });
  const bytes = (await gatherBody(body, 1e6)) as Buffer;
  expect(bytes).toHaveLength(body.length);
  return bytes;
}

async function edited(parts: readonly WrittenPart[], edits: Partial<FormEdits>): Promise<string> {
  return (await bytesOf(toForm(parts), edits)).toString('latin1');
}

const written = (parts: readonly WrittenPart[]): string => formText('b', parts).toString('latin1');

describe('a form that is written', () => {
  it('has other values and is the same in all else', async () => {
    for (const parts of [
      [MODEL, FILE, PROMPT],
      [FILE, PROMPT, MODEL],
      [PROMPT, MODEL, FILE, FILE],
      [FILE, { name: 'none', filename: '', type: 'a/B; c="d"', content: '' }],
    ]) {
      expect(await edited(parts, { values: { model: 'up-1' } })).toBe(
        written(parts.map((part) => (part === MODEL ? { ...MODEL, content: 'up-1' } : part))),
      );
    }
  });

  it('can be read again and from the middle', async () => {
    const body = writeForm(toForm([MODEL, FILE, PROMPT]), { values: {} });
    const whole = written([MODEL, FILE, PROMPT]);
    for (let at = 0; at <= body.length; at++) {
      const chunks: Buffer[] = [];
      for await (const chunk of body.open(at)) chunks.push(chunk);
      expect(Buffer.concat(chunks).toString('latin1')).toBe(whole.slice(at));
    }
  });

  it('has its names and types where no part can end them', async () => {
    const content = fromBytes(Buffer.from('x'));
    const parts = [
      { name: 'a"; name="model', value: '1' },
      { name: 'ü\r\nx: y', value: '2', contentType: 'text/csv' },
      { name: 'f', filename: '"\n', contentType: undefined, content },
    ];
    const form: Form = { boundary: 'b', parts };
    const read = await readParts(formContentType(form), await bytesOf(form));
    expect(read.map(({ name, filename }) => [name, filename])).toEqual([
      ['a"; name="model', undefined],
      ['ü\r\nx: y', undefined],
      ['f', '"\n'],
    ]);
  });

  it('lacks, renames and adds what its provider needs', async () => {
    const quirks = {
      drop: ['prompt'],
      rename: { image: 'image[]' },
      default: { size: '1x1', n: 2, 'say "a"': true },
    };
    const image = { ...FILE, name: 'image[]' };
    expect(await edited([PROMPT, FILE, MODEL, FILE], { quirks })).toBe(
      written([
        image,
        MODEL,
        image,
        { name: 'size', content: '1x1' },
        { name: 'n', content: '2' },
        { name: 'say %22a%22', content: 'true' },
      ]),
    );
  });

  it('gives the new name to nothing where it is taken, and a default to nothing that is there', async () => {
    const quirks = { rename: { prompt: 'text' }, default: { text: 'x', model: 'y' } };
    const parts = [PROMPT, { name: 'text', content: 'mine' }, MODEL];
    expect(await edited(parts, { quirks })).toBe(written(parts.slice(1)));
  });

  it('takes no name for one of an edit that only looks like it', async () => {
    const parts = ['constructor', '__proto__', 'toString'].map((name) => ({ name, content: 'x' }));
    expect(await edited(parts, { values: {}, quirks: { rename: {} } })).toBe(written(parts));
  });
});

describe('a field that the gateway acts on', () => {
  const read = (...parts: WrittenPart[]) => readGuardedField(toForm(parts), 'model');

  it('is read wherever it stands', () => {
    expect(read(FILE, MODEL)).toBe('acme/paint');
    expect(read(FILE)).toBeUndefined();
  });

  it.each([
    ['twice', [MODEL, MODEL]],
    ['in another case', [{ ...MODEL, name: 'Model' }]],
    ['as a list', [{ ...MODEL, name: 'model[]' }]],
    ['beside another spelling', [MODEL, { ...MODEL, name: 'model[0]' }]],
    ['as a file', [{ ...MODEL, filename: 'model' }]],
    ['as bytes', [{ ...MODEL, type: 'application/octet-stream' }]],
  ])('is refused %s', (_, parts) => {
    expect(() => read(...parts)).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'model' }),
    );
  });
});

it('names its boundary in the content type', () => {
  expect(formContentType({ boundary: 'req_1' })).toBe('multipart/form-data; boundary=req_1');
});
