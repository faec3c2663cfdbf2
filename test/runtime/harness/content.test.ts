import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeSkill } from '../loop-bench.ts';
import { createStand, reaperOfFile } from './stand.ts';
import type { Stand, StandOptions } from './stand.ts';

const reaper = reaperOfFile();

const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex');
const PDF = Buffer.from('%PDF-1.7');
const MAIN = '---\nname: tea\ndescription: Makes tea.\n---\nBoil water.\n';

const upload = (bytes: Buffer) => ({
  name: 'upload',
  mediaType: 'application/octet-stream',
  size: bytes.length,
  read: async () => bytes,
});
const naming = (type: string, id: string) => ({ type, source: { type: 'file', file_id: id } });
const CONTENT = [
  naming('image', 'file_png'),
  naming('document', 'file_pdf'),
  naming('document', 'file_txt'),
  naming('document', 'file_none'),
  { type: 'text', text: 'Hello.' },
];
const files = {
  file_png: upload(PNG),
  file_pdf: upload(PDF),
  file_txt: upload(Buffer.from('words')),
};

/** What the program was asked. */
async function asked(
  options: Pick<StandOptions, 'protocol' | 'env'>,
  find: (note: any) => unknown,
): Promise<any> {
  const stand = await createStand({ reaper, ...options, files });
  await stand.send({ type: 'user.message', content: CONTENT });
  await stand.idle();
  return (await stand.notes()).map(find).find((found) => found !== undefined);
}

describe('a harness is given the files of a message', () => {
  it('as ACP content, where it takes images and resources', async () => {
    const prompt = await asked({ protocol: 'acp', env: { SEEING: '1' } }, (note) => note.prompt);
    expect(prompt.slice(1)).toEqual([
      { type: 'image', data: PNG.toString('base64'), mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'attachment:upload',
          mimeType: 'application/pdf',
          blob: PDF.toString('base64'),
        },
      },
      { type: 'text', text: '[upload]\n\nwords' },
      { type: 'text', text: '(The file file_none was deleted.)' },
      { type: 'text', text: 'Hello.' },
    ]);
  });

  it('in words, where it does not', async () => {
    const prompt = await asked({ protocol: 'acp' }, (note) => note.prompt);
    expect(prompt.slice(1, 4).map(({ type, text }: any) => [type, text])).toEqual([
      ['text', '(an attachment that you cannot read: image)'],
      ['text', '(an attachment that you cannot read: upload)'],
      ['text', '[upload]\n\nwords'],
    ]);
  });

  it('as blocks in JSON lines', async () => {
    const stand = await createStand({ reaper, protocol: 'jsonl', files });
    const content = [{ type: 'text', text: 'speak' }, ...CONTENT];
    await stand.send({ type: 'user.message', content });
    await stand.idle();
    const [{ input }] = await stand.notes();
    expect(input[0].content).toMatchObject([
      { type: 'text' },
      { type: 'image', source: { type: 'base64', data: PNG.toString('base64') } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf' } },
      { type: 'text', text: '[upload]\n\nwords' },
      { type: 'text', text: '(The file file_none was deleted.)' },
      { type: 'text', text: 'Hello.' },
    ]);
  });
});

describe('a harness finds the Skills of its Agent', () => {
  const agent = { skills: [{ type: 'custom', skill_id: 'skill_1', version: '1' }] } as const;
  const script = '#!/bin/sh\necho kettle\n';
  const tea = fakeSkill('tea', 'Makes tea.', {
    'SKILL.md': MAIN,
    'scripts/boil.sh': script,
    'pot.bin': Buffer.from([0, 255]),
  });
  const gone = { ...fakeSkill('gone', 'Gone.', {}), read: async () => undefined };
  const skills = [tea, gone];

  const folderOf = ({ directory, session }: Stand): string =>
    join(directory, 'work', session.id, '.agents/skills');

  it('in its working directory, and is told where', async () => {
    const stand = await createStand({ reaper, protocol: 'acp', agent, skills });
    await stand.say('hello');
    await stand.idle();
    const folder = folderOf(stand);
    expect(await readFile(join(folder, 'tea/SKILL.md'), 'utf8')).toBe(MAIN);
    expect([...(await readFile(join(folder, 'tea/pot.bin')))]).toEqual([0, 255]);
    const { mode } = await stat(join(folder, 'tea/scripts/boil.sh'));
    expect(mode & 0o777).toBe(0o700);
    const { prompt } = (await stand.notes()).find((note) => note.prompt);
    expect(prompt[0].text).toMatch(
      /^Be brief\.\n\n# Skills[^]*`\.agents\/skills`[^]*\n- tea: Makes tea\.$/,
    );
  });

  it('by name and path in JSON lines', async () => {
    const stand = await createStand({ reaper, protocol: 'jsonl', agent, skills });
    await stand.say('speak');
    await stand.idle();
    const [turn] = await stand.notes();
    expect(turn.agent.skills).toEqual([
      { name: 'tea', description: 'Makes tea.', path: '.agents/skills/tea' },
    ]);
    expect(await readFile(join(folderOf(stand), 'tea/scripts/boil.sh'), 'utf8')).toBe(script);
  });
});
