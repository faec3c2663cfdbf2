import { describe, expect, it } from 'vitest';
import { AttachedFiles } from '../../../src/runtime/turn/attached-files.ts';
import type { AttachedFile, Block } from '../../../src/runtime/turn/attached-files.ts';
import { FakeSession } from '../fake-log.ts';
import { loopBench } from '../loop-bench.ts';
import type { BenchOptions } from '../loop-bench.ts';

const MiB = 1024 * 1024;
const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex');
const PDF = Buffer.from('%PDF-1.7 and so on');

const fileOf = (
  content: Buffer | string,
  mediaType = 'application/octet-stream',
): AttachedFile => ({
  name: 'notes',
  mediaType,
  size: Buffer.byteLength(content),
  read: async () => Buffer.from(content),
});
const naming = (id: string, type = 'document', more: object = {}): Block => ({
  type,
  source: { type: 'file', file_id: id },
  ...more,
});

async function contentOf(file: AttachedFile | undefined, block = naming('file_1')): Promise<Block> {
  const [content] = await new AttachedFiles(async () => file).toContent([block]);
  return content as Block;
}

const base64 = (type: string, media_type: string, bytes: Buffer) => ({
  type,
  source: { type: 'base64', media_type, data: bytes.toString('base64') },
});

describe('the content of a file', () => {
  it('is an image, a PDF or a text, whatever its uploader called it', async () => {
    for (const declared of ['image/png', 'application/octet-stream', 'application/pdf'])
      expect(await contentOf(fileOf(PNG, declared))).toEqual(base64('image', 'image/png', PNG));
    expect(await contentOf(fileOf(PDF))).toEqual({
      ...base64('document', 'application/pdf', PDF),
      title: 'notes',
    });
    for (const declared of ['text/markdown; charset=utf-8', 'application/json', 'x/y'])
      expect(await contentOf(fileOf('{"à": 1}', declared))).toEqual({
        type: 'text',
        text: '[notes]\n\n{"à": 1}',
      });
  });

  it('is of the declared kind where the bytes do not say', async () => {
    const heic = Buffer.from([0, 1, 255]);
    expect(await contentOf(fileOf(heic, 'image/heic'))).toEqual(
      base64('image', 'image/heic', heic),
    );
    expect(await contentOf(fileOf(heic, 'audio/mpeg'))).toEqual({
      type: 'text',
      text: '(The file file_1 (notes, audio/mpeg) cannot be read.)',
    });
  });

  it('has the title and context of the message that names it', async () => {
    const block = naming('file_1', 'document', { title: 'My notes', context: 'Old ones.' });
    expect(await contentOf(fileOf(PDF), block)).toMatchObject({
      title: 'My notes',
      context: 'Old ones.',
    });
    expect(await contentOf(fileOf('x'), block)).toMatchObject({ text: '[My notes]\n\nx' });
  });

  it('is told in words where it is gone, empty or too large', async () => {
    const gone = { ...fileOf('x'), read: async () => undefined };
    for (const file of [undefined, gone])
      expect(await contentOf(file)).toEqual({
        type: 'text',
        text: '(The file file_1 was deleted.)',
      });
    expect(await contentOf(fileOf(''))).toMatchObject({ text: '(The file file_1 is empty.)' });
    const large = { ...fileOf('x'), size: 21 * MiB, read: () => Promise.reject(new Error('read')) };
    expect(await contentOf(large)).toMatchObject({
      text: '(The file file_1 is too large to be read.)',
    });
    const long = await contentOf(fileOf('é'.repeat(MiB)));
    const { text } = long as unknown as { text: string };
    expect(text).toMatch(/… \(cut off\)$/);
    expect(Buffer.byteLength(text)).toBeLessThan(MiB + 100);
  });
});

describe('the files of one request', () => {
  it('have bounded room, the newest first', async () => {
    const bytes = Buffer.concat([PNG, Buffer.alloc(9 * MiB)]);
    const files = new AttachedFiles(async () => fileOf(bytes));
    const content = await files.toContent(['a', 'b', 'c'].map((id) => naming(id, 'image')));
    expect(content.map(({ type }) => type)).toEqual(['text', 'image', 'image']);
    expect(content[0]).toEqual({
      type: 'text',
      text: '(The file a is left out for want of room.)',
    });
  });

  it('are read once, as long as they are asked for', async () => {
    const read: string[] = [];
    const files = new AttachedFiles(async (id) => ({
      ...fileOf('x'),
      async read() {
        read.push(id);
        return Buffer.from('x');
      },
    }));
    const blocks = [naming('a'), { type: 'text', text: 'and' }, naming('a'), naming('b')];
    const content = await files.toContent(blocks);
    expect(content.map(({ type }) => type)).toEqual(['text', 'text', 'text', 'text']);
    await files.toContent(blocks);
    expect(read.toSorted()).toEqual(['a', 'b']);
    await files.toContent([naming('b')]);
    await files.toContent(blocks);
    expect(read.toSorted()).toEqual(['a', 'a', 'b']);
  });
});

describe('a model', () => {
  const files = { file_1: fileOf(PNG), file_2: fileOf(PDF), file_3: fileOf('plain words') };
  const ask = async (options: BenchOptions = {}): Promise<string> => {
    const rules = [
      { match: { turn: 1 }, reply: { tool_calls: [{ name: 'look_up', arguments: {} }] } },
    ];
    const bench = loopBench({ files, rules, ...options });
    const session = new FakeSession({
      tools: [{ type: 'custom', name: 'look_up', description: '', input_schema: {} }],
    });
    session.send({
      type: 'user.message',
      content: [
        { type: 'text', text: 'Look.' },
        naming('file_1', 'image'),
        naming('file_2'),
        naming('file_none'),
      ],
    });
    await bench.run(session);
    const [{ id } = { id: '' }] = session.of('agent.custom_tool_use');
    session.send({
      type: 'user.custom_tool_result',
      custom_tool_use_id: id,
      content: [naming('file_3')],
    });
    await bench.run(session);
    expect(session.of('agent.message')).toHaveLength(1);
    // The log says what the client said.
    expect(JSON.stringify(session.placed)).not.toContain(PNG.toString('base64'));
    return bench.engine.calls()[1]?.body.toString() ?? '';
  };

  it.each(['messages', 'chat', 'responses', 'generate-content'] as const)(
    'that speaks %s is shown the files of messages and results',
    async (protocol) => {
      const body = await ask({ protocol });
      expect(body).toContain(PNG.toString('base64'));
      expect(body).toContain(PDF.toString('base64'));
      expect(body).toContain('(The file file_none was deleted.)');
      expect(body).toContain('plain words');
    },
  );
});
