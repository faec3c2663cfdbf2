import { asDeclared } from '../../config/actual/dump.ts';
import { checkSkillFiles, type SentFile } from '../../resources/skills/skill-files.ts';
import type { CommandResult } from '../command.ts';
import type { InputOf } from '../commands.ts';
import type { CommandContext } from '../context.ts';
import { readSkillFolder } from '../input/skill-folder.ts';
import { toSent } from '../project/dumped-files.ts';
import { declareEntry } from './declare-entry.ts';
import { updateObject } from './update-object.ts';

/** The document that declares a folder as a new Skill; without `name` it has that of its SKILL.md. */
export async function declareSkill(
  folder: string,
  fields: { display_name?: string | undefined; organization?: string | undefined },
  context: CommandContext,
): Promise<CommandResult> {
  const { name, files } = await readFiles(folder);
  return declareEntry('skill', { name, ...fields, files }, context);
}

/** The document that declares a Skill that exists with the files of a folder. */
export function declareSkillUpdate(
  folder: string,
  input: InputOf<'skills update'>,
): Promise<CommandResult> {
  return updateObject<typeof input>('skill', async (before, { context }) => {
    const { files } = await readFiles(folder);
    return { entry: { ...before, files }, given: new Set(['files']), directory: context.io.cwd };
  })(input);
}

async function readFiles(
  folder: string,
): Promise<{ name: string; files: Record<string, SentFile> }> {
  const read = await readSkillFolder(folder);
  const files = read.map(({ path, bytes }) => {
    const sent = toSent(bytes);
    return [path, typeof sent === 'string' ? asDeclared(sent) : sent] as const;
  });
  return { name: checkSkillFiles(read).name, files: Object.fromEntries(files) };
}
