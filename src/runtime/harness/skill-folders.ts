import { lstat, mkdir, rm, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SkillTitle } from '../turn/instructions.ts';
import { tellSkills } from '../turn/instructions.ts';
import type { TurnSkill } from '../model/skill-server.ts';

/** A Skill that lies on the disk. */
export interface SkillFolder extends SkillTitle {
  /** Below the working directory. */
  readonly path: string;
}

/** Folder in which agents of many makers look for Skills. */
const FOLDER = '.agents/skills';
const SHEBANG = '#!';

/** Writes Skills below a working directory, in place of those there. Rejects where the disk does not allow it. */
export async function writeSkills(
  directory: string,
  skills: readonly TurnSkill[],
): Promise<SkillFolder[]> {
  await unlinkAbove(directory);
  await rm(join(directory, FOLDER), { recursive: true, force: true });
  const written: SkillFolder[] = [];
  for (const skill of skills) {
    const files = await skill.read();
    if (!files) continue;
    const { name, description } = skill;
    const path = `${FOLDER}/${name}`;
    for (const { path: below, bytes } of files) {
      const target = join(directory, path, below);
      const isScript = bytes.toString('latin1', 0, SHEBANG.length) === SHEBANG;
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await writeFile(target, bytes, { mode: isScript ? 0o700 : 0o600 });
    }
    written.push({ name, description, path });
  }
  return written;
}

/** Removes a link that a harness left in place of the folder above: it would lead out of the directory. */
async function unlinkAbove(directory: string): Promise<void> {
  const above = join(directory, dirname(FOLDER));
  const found = await lstat(above).catch(() => undefined);
  if (found?.isSymbolicLink()) await unlink(above);
}

/** Text that lists the Skills for a harness; empty where there are none. */
export function toSkillWords(skills: readonly SkillFolder[]): string {
  if (skills.length === 0) return '';
  const how = `Each is a folder below \`${FOLDER}\` in your working directory. When one of them fits what you are asked, read its \`SKILL.md\` before you begin.`;
  return tellSkills(skills, how);
}
