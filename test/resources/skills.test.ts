import { beforeEach, describe, expect, it } from 'vitest';
import { loadSkills, readInstructions } from '../../src/resources/skills/load-skills.ts';
import { fromSkillForm } from '../../src/resources/skills/skill-files.ts';
import { verifies } from '../requirements.ts';
import { dump, makeResources } from './make-resources.ts';
import type { Resources } from './make-resources.ts';

let resources: Resources;
let home: string;

beforeEach(async () => {
  resources = makeResources();
  home = (await resources.call('POST organizations', { body: { name: 'home' } })).body['id'];
});

const call = (request: string, body?: unknown, query = '') =>
  resources.call(request, { body, query, organization: home, platform: false });

const head = (name = 'review') => `---\nname: ${name}\ndescription: Reviews code.\n---\n`;
const MAIN = `${head()}\n# Read it\nAll of it.\n`;

const make = async (files: object = { 'SKILL.md': MAIN }) =>
  (await call('POST skills', { files })).body;

const file = (filename: string | undefined, text = MAIN) => ({
  name: 'files[]',
  filename,
  content: Buffer.from(text),
});

describe('a Skill', () => {
  it('has the name that it gives itself, its latest version and no files in sight', async () => {
    const created = await call('POST skills', { files: { 'SKILL.md': MAIN } });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^skill_/),
      type: 'skill',
      name: 'review',
      display_name: 'review',
      description: 'Reviews code.',
      latest_version_id: expect.stringMatching(/^skillver_/),
      source: { type: 'custom' },
      labels: {},
      created_at: '2026-11-21T00:00:00.000Z',
      updated_at: '2026-11-21T00:00:00.000Z',
    });
    expect((await call(`PATCH skills/${created.body['id']}`, {})).status).toBe(405);
    const sources = async (source: string) =>
      (await call('GET skills', undefined, `source=${source}`)).body['data'].length;
    expect([await sources('custom'), await sources('anthropic')]).toEqual([1, 0]);
  });

  it(
    verifies(
      'skills.upload.rules',
      'is refused without a SKILL.md at the root that says its name and what it does',
    ),
    async () => {
      const body = (text: string) => text.replace('review', 'x');
      const cases: [what: RegExp, files: unknown][] = [
        [/missing/, {}],
        [/missing/, { 'notes.md': MAIN }],
        [/missing/, { 'review/SKILL.md': MAIN }],
        [/front matter/, { 'SKILL.md': 'Read it.' }],
        [/front matter/, { 'SKILL.md': '---\nname: review\n' }],
        [/not valid YAML/, { 'SKILL.md': '---\nname: [\n---\n' }],
        [/not valid YAML/, { 'SKILL.md': '---\na: &a [1]\nname: *a\n---\n' }],
        [/description/, { 'SKILL.md': '---\nname: review\n---\n' }],
        [/description/, { 'SKILL.md': '---\nname: review\ndescription: ""\n---\n' }],
        [/a name/, { 'SKILL.md': '---\ndescription: x\n---\n' }],
        [/a name/, { 'SKILL.md': body(head('Not A Slug')) }],
        [/a name/, { 'SKILL.md': '---\nname: 7\ndescription: x\n---\n' }],
        [/not a path/, { 'SKILL.md': MAIN, '/etc/passwd': '' }],
        [/not a path/, { 'SKILL.md': MAIN, 'a/../../b': '' }],
        [/not a path/, { 'SKILL.md': MAIN, 'a//b': '' }],
        [/not a path/, { 'SKILL.md': MAIN, './a': '' }],
        [/not a path/, { 'SKILL.md': MAIN, 'a\\b': '' }],
        [/not a path/, { 'SKILL.md': MAIN, 'c:/b': '' }],
        [/not a path/, { 'SKILL.md': MAIN, 'a\nb': '' }],
        [/not a path/, { 'SKILL.md': MAIN, ['é'.repeat(128)]: '' }],
        [/a: is a file and a folder/, { 'SKILL.md': MAIN, 'a/b': '', a: '' }],
        [/at most 500 files/, { 'SKILL.md': MAIN, ...many(500) }],
        [/bytes in all/, { 'SKILL.md': MAIN, big: 'x'.repeat(16 * 1024 * 1024) }],
        [/./, undefined],
        [/./, 'SKILL.md'],
        [/./, { 'SKILL.md': 7 }],
      ];
      for (const [what, files] of cases) {
        const refused = await call('POST skills', { files });
        expect(refused.status, String(what)).toBe(400);
        expect(refused.body['message']).toMatch(what);
      }
      expect((await call('GET skills')).body['data']).toEqual([]);
      expect(await dump(resources.store)).not.toContain('Reviews code.');
    },
  );

  it(verifies('skills.upload.rules', 'is uploaded as files that share one top folder'), () => {
    const form = [
      { name: 'display_name', value: 'Review' },
      file('review/SKILL.md'),
      { name: 'files[]', filename: 'review/a/b.bin', content: Buffer.from([0, 255]) },
      { name: 'other', value: 'x' },
    ];
    expect(fromSkillForm(form)).toEqual({
      display_name: 'Review',
      files: {
        'SKILL.md': { base64: Buffer.from(MAIN).toString('base64') },
        'a/b.bin': { base64: 'AP8=' },
      },
    });
    for (const wrong of [
      [file('SKILL.md')],
      [file('/review/SKILL.md')],
      [file('review/SKILL.md'), file('other/a.md')],
      [file('review/SKILL.md'), file('review/../a.md')],
      [file('../SKILL.md')],
      [file('review/SKILL.md'), file('review/SKILL.md')],
      [file(undefined)],
      [{ name: 'files[]', value: 'text' }],
    ]) {
      expect(() => fromSkillForm(wrong)).toThrow(expect.objectContaining({ status: 400 }));
    }
  });

  it('keeps every upload as a version, and leaves no trace when it is deleted', async () => {
    const { id, latest_version_id: first } = await make();
    const path = `skills/${id}/versions`;
    const files = { 'SKILL.md': `${head('review-2')}new`, 'a.txt': 'a' };
    const second = await call(`POST ${path}`, { files });
    expect(second).toMatchObject({
      status: 201,
      body: { type: 'skill_version', skill_id: id, name: 'review-2' },
    });
    const same = await call(`POST ${path}`, { files });
    expect(same.body['id']).not.toBe(second.body['id']);
    const listed = (await call(`GET ${path}`)).body['data'];
    const ids = [same.body['id'], second.body['id'], first];
    expect(listed.map((one: { id: string }) => one.id)).toEqual(ids);
    expect((await call(`GET skills/${id}`)).body['latest_version_id']).toBe(ids[0]);
    for (const wrong of [{}, { files: {} }, { files: { 'SKILL.md': 'x' } }]) {
      expect((await call(`POST ${path}`, wrong)).status).toBe(400);
    }

    expect((await call(`DELETE ${path}/${ids[0]}`)).body).toMatchObject({
      id: ids[0],
      type: 'skill_version_deleted',
    });
    expect((await call(`GET ${path}/${ids[0]}`)).status).toBe(404);
    expect((await call(`GET skills/${id}`)).body['latest_version_id']).toBe(ids[1]);
    expect((await call(`DELETE ${path}/${first}`)).status).toBe(200);
    expect((await call(`GET skills/${id}`)).body['latest_version_id']).toBe(ids[1]);
    expect(await call(`DELETE ${path}/${ids[1]}`)).toMatchObject({
      status: 409,
      body: { type: 'last_version' },
    });
    expect((await call(`DELETE skills/${id}`)).body).toMatchObject({ id, type: 'skill_deleted' });
    const left = await resources.store.list({ prefix: [], limit: 10_000 });
    expect(left.filter(({ key }) => /skill|content/.test(String(key[0])))).toEqual([]);
    expect(left.filter(({ key }) => key.includes('skill'))).toEqual([]);
  });

  it('walks its versions in pages, and serves none of another Skill', async () => {
    const { id, latest_version_id: first } = await make();
    for (let n = 0; n < 4; n++) {
      await call(`POST skills/${id}/versions`, { files: { 'SKILL.md': MAIN } });
    }
    const seen: string[] = [];
    let page: string | null = '';
    while (page !== null) {
      const query = `limit=2&page=${encodeURIComponent(page)}`;
      const { body } = await call(`GET skills/${id}/versions`, undefined, query);
      seen.push(...body['data'].map((one: { id: string }) => one.id));
      page = body['next_page'];
    }
    expect(seen).toHaveLength(5);
    expect(seen).toEqual([...seen].sort().reverse());
    const { id: other } = await make();
    for (const path of [`${first}`, `${first}/content`]) {
      expect((await call(`GET skills/${other}/versions/${path}`)).status).toBe(404);
      expect((await call(`GET skills/${id}/versions/${path}`)).status).toBe(200);
    }
    expect((await call(`DELETE skills/${other}/versions/${first}`)).status).toBe(404);
    const cursor = (await call(`GET skills/${id}/versions`, undefined, 'limit=1')).body[
      'next_page'
    ];
    const foreign = `page=${encodeURIComponent(cursor)}`;
    expect((await call(`GET skills/${other}/versions`, undefined, foreign)).status).toBe(400);
    expect((await call(`GET skills/${id}/versions/${first}/other`)).status).toBe(404);
    expect((await call(`PATCH skills/${id}/versions/${first}`, {})).status).toBe(405);
  });
});

describe('the Skills of an Agent', () => {
  const agentWith = (skills: unknown) => call('POST agents', { name: 'a', model: 'b', skills });

  it('are pinned at a version, and stay there', async () => {
    const { id, latest_version_id: first } = await make();
    const custom = { type: 'custom', skill_id: id };
    const { body: agent } = await agentWith([custom]);
    expect(agent['skills']).toEqual([{ ...custom, version: first }]);
    const { body: second } = await call(`POST skills/${id}/versions`, {
      files: { 'SKILL.md': MAIN },
    });
    const renamed = await call(`PATCH agents/${agent['id']}`, { name: 'renamed' });
    expect(renamed.body['skills']).toEqual([{ ...custom, version: first }]);
    const newer = await call(`PATCH agents/${agent['id']}`, { skills: [custom] });
    expect(newer.body['skills']).toEqual([{ ...custom, version: second['id'] }]);
    const { body: pinned } = await agentWith([{ ...custom, version: first }]);
    expect(pinned['skills']).toEqual([{ ...custom, version: first }]);
    for (const version of [first, second['id']]) {
      expect(await call(`DELETE skills/${id}/versions/${version}`)).toMatchObject({
        status: 409,
        body: { type: 'in_use' },
      });
    }
    expect((await call(`DELETE skills/${id}`)).body['type']).toBe('in_use');
  });

  it('exist in the organization', async () => {
    const { id } = await make();
    const cases: [param: string, skill: object][] = [
      ['skills[0].skill_id', { type: 'custom', skill_id: 'skill_none' }],
      ['skills[0].skill_id', { type: 'anthropic', skill_id: 'xlsx' }],
      ['skills[0].version', { type: 'custom', skill_id: id, version: 'skillver_none' }],
    ];
    for (const [param, skill] of cases) {
      expect(await agentWith([skill])).toMatchObject({ status: 404, body: { param } });
    }
    const other = (await resources.call('POST organizations', { body: { name: 'other' } })).body;
    const foreign = await resources.call('POST agents', {
      body: { name: 'a', model: 'b', skills: [{ type: 'custom', skill_id: id }] },
      organization: other['id'],
      platform: false,
    });
    expect(foreign.status).toBe(404);
  });

  it('are loaded with their text and files, those that are gone left out', async () => {
    const big = 'x'.repeat(9 * 1024 * 1024);
    const { id, latest_version_id: version } = await make({
      'SKILL.md': MAIN,
      'b.bin': { base64: 'AP8=' },
      'empty.txt': '',
      'big.txt': big,
    });
    const pins = [
      { skill_id: id, version },
      { skill_id: 'skill_none', version },
      { skill_id: id, version: 'skillver_none' },
    ];
    const loaded = await loadSkills(resources.repository, home, pins);
    expect(loaded).toHaveLength(1);
    const { files: listed, read, ...rest } = loaded[0]!;
    expect(rest).toEqual({ id, version, name: 'review', description: 'Reviews code.' });
    expect(listed).toContainEqual({ path: 'b.bin', size: 2 });
    const files = (await read()) ?? [];
    expect(readInstructions(files)).toBe('# Read it\nAll of it.');
    const texts = files.map(({ path, bytes }) => [path, bytes.toString('latin1')]);
    expect(Object.fromEntries(texts)).toEqual({
      'SKILL.md': MAIN,
      'b.bin': '\u0000\u00ff',
      'empty.txt': '',
      'big.txt': big,
    });
    expect(await loadSkills(resources.repository, 'org_other', pins)).toEqual([]);
  });
});

it('two Skills of one name are told apart, and one that is deleted later reads as nothing', async () => {
  const [first, second] = [await make({ 'SKILL.md': MAIN }), await make({ 'SKILL.md': MAIN })];
  const pins = [first, second].map(({ id, latest_version_id: version }) => ({
    skill_id: id,
    version,
  }));
  const loaded = await loadSkills(resources.repository, home, pins);
  expect(loaded.map(({ name }) => name)).toEqual(['review', `review-${second.id}`]);
  await resources.call(`DELETE skills/${second.id}`);
  expect(await loaded[1]?.read()).toBeUndefined();
});

describe('the admin view of a Skill', () => {
  it('shows its files by digest; sent back they change nothing, as contents they do', async () => {
    const body = { organization: 'home', files: { 'SKILL.md': MAIN, 'a.txt': 'a' } };
    const made = (await resources.call('POST skills', { body })).body;
    expect(made['files']['a.txt']).toMatch(/^sha256:[0-9a-f]{64}$/);
    const patch = async (files: object) =>
      (await resources.call(`PATCH skills/${made['id']}`, { body: { files } })).body;
    expect(await patch(made['files'])).toEqual(made);
    const changed = await patch({ ...made['files'], 'a.txt': 'b' });
    expect(changed['files']['SKILL.md']).toBe(made['files']['SKILL.md']);
    expect(changed['files']['a.txt']).not.toBe(made['files']['a.txt']);
    expect(changed['latest_version_id']).not.toBe(made['latest_version_id']);
    const pin = { skill_id: made['id'], version: changed['latest_version_id'] };
    const [loaded] = await loadSkills(resources.repository, home, [pin]);
    const files = await loaded?.read();
    expect(files?.map(({ bytes }) => bytes.toString())).toEqual([MAIN, 'b']);
  });
});

function many(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, '']));
}
