import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { writeSkills } from '../../../src/runtime/harness/skill-folders.ts';
import type { TurnSkill } from '../../../src/runtime/model/skill-server.ts';

let root: string;
let directory: string;
let elsewhere: string;

beforeEach(async () => {
  const made = await mkdtemp(join(tmpdir(), 'skills-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  root = made;
  directory = join(root, 'session');
  elsewhere = join(root, 'elsewhere');
  await mkdir(directory);
  await mkdir(join(elsewhere, 'skills'), { recursive: true });
  await writeFile(join(elsewhere, 'skills/kept'), 'theirs');
});

const skill = (name: string): TurnSkill => ({
  name,
  description: `${name}.`,
  files: [],
  read: async () => [{ path: 'SKILL.md', bytes: Buffer.from(`# ${name}`) }],
});

it('takes the place of what was there', async () => {
  await writeSkills(directory, [skill('old')]);
  expect(await writeSkills(directory, [skill('new')])).toEqual([
    { name: 'new', description: 'new.', path: '.agents/skills/new' },
  ]);
  expect(await readdir(join(directory, '.agents/skills'))).toEqual(['new']);
  expect(await readFile(join(directory, '.agents/skills/new/SKILL.md'), 'utf8')).toBe('# new');
});

it.each([
  ['.agents', 'elsewhere'],
  ['.agents/skills', 'elsewhere/skills'],
])('does not follow a link that a harness left as %s', async (link, target) => {
  if (link !== '.agents') await mkdir(join(directory, '.agents'));
  await symlink(join(root, target), join(directory, link));
  await writeSkills(directory, [skill('new')]);
  expect(await readdir(elsewhere, { recursive: true })).toEqual(['skills', 'skills/kept']);
  expect((await lstat(join(directory, link))).isDirectory()).toBe(true);
  expect(await readdir(join(directory, '.agents/skills'))).toEqual(['new']);
});
