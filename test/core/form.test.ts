import { describe, expect, it } from 'vitest';
import { formContentType, readGuardedField, spliceForm } from '../../src/core/form.ts';
import type { Form, FormEdits } from '../../src/core/form.ts';
import { FormScanner } from '../../src/core/form-scanner.ts';
import { fromBytes, gatherBody } from '../../src/core/spooled-body.ts';
import { formText } from '../support/form-text.ts';
import type { WrittenPart } from '../support/form-text.ts';

const FILE: WrittenPart = { name: 'image', filename: 'a.png', content: Buffer.from([0, 255, 13]) };
const MODEL: WrittenPart = { name: 'model', content: 'acme/paint' };
const PROMPT: WrittenPart = { name: 'prompt', content: 'a cat' };

function toForm(parts: readonly WrittenPart[], boundary = 'b'): Form {
  const bytes = formText(boundary, parts);
  const scanner = new FormScanner(boundary);
  scanner.push(bytes);
  const found = scanner.end();
  const withText = found.parts.map(({ isText, ...part }) => ({
    ...part,
    value: isText ? bytes.toString('utf8', part.start, part.end) : undefined,
  }));
  return { boundary, parts: withText, closeAt: found.closeAt, body: fromBytes(bytes) };
}

async function spliced(parts: readonly WrittenPart[], edits: FormEdits): Promise<string> {
  const body = spliceForm(toForm(parts), edits);
  const bytes = (await gatherBody(body, 1e6)) as Buffer;
  expect(bytes).toHaveLength(body.length);
  return bytes.toString('latin1');
}

const written = (parts: readonly WrittenPart[]): string => formText('b', parts).toString('latin1');

describe('an edit of a form', () => {
  it('changes the value and not one other byte', async () => {
    for (const parts of [
      [MODEL, FILE, PROMPT],
      [FILE, PROMPT, MODEL],
      [PROMPT, MODEL, FILE, FILE],
    ]) {
      expect(await spliced(parts, { values: { model: 'up-1' } })).toBe(
        written(parts.map((part) => (part === MODEL ? { ...MODEL, content: 'up-1' } : part))),
      );
    }
  });

  it('leaves a value alone that is right already', () => {
    const form = toForm([MODEL, FILE]);
    expect(spliceForm(form, { values: { model: 'acme/paint' } })).toBe(form.body);
  });

  it('removes, renames and adds what a provider needs', async () => {
    const quirks = {
      drop: ['prompt'],
      rename: { image: 'image[]' },
      default: { size: '1x1', n: 2, 'say "a"': true },
    };
    const added = (name: string, text: string): string =>
      `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
    expect(await spliced([PROMPT, FILE, MODEL, FILE], { values: {}, quirks })).toBe(
      written([{ ...FILE, name: 'image[]' }, MODEL, { ...FILE, name: 'image[]' }]).replace(
        '--b--',
        `${added('size', '1x1')}${added('n', '2')}${added('say %22a%22', 'true')}--b--`,
      ),
    );
  });

  it('gives the new name to nothing where it is taken, and a default to nothing that is there', async () => {
    const quirks = { rename: { prompt: 'text' }, default: { text: 'x', model: 'y' } };
    const parts = [PROMPT, { name: 'text', content: 'mine' }, MODEL];
    expect(await spliced(parts, { values: {}, quirks })).toBe(written(parts.slice(1)));
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

it('names its boundary in the content type, quoted where it must be', () => {
  expect(formContentType({ boundary: '----a.b-1' })).toBe(
    'multipart/form-data; boundary=----a.b-1',
  );
  expect(formContentType({ boundary: 'a b:c' })).toBe('multipart/form-data; boundary="a b:c"');
});
