import { instructionsOf } from './skill-files.ts';
import { getSkillVersion, readSkillFiles } from './skill-store.ts';
import type { SkillFile } from './skill-files.ts';
import { skill } from './skill.ts';
import type { Repository } from './repository.ts';

export interface SkillPin {
  readonly skill_id: string;
  readonly version: string;
}

/** A Skill as a turn uses it. */
export interface LoadedSkill {
  readonly id: string;
  readonly version: string;
  readonly name: string;
  readonly description: string;
  /** The text of `SKILL.md` behind its front matter. */
  readonly instructions: string;
  /** All files, `SKILL.md` among them, by paths below the folder of the Skill. */
  readonly files: readonly SkillFile[];
}

/** The Skills of an Agent; one that was deleted meanwhile is left out. */
export async function loadSkills(
  repository: Repository,
  organization: string,
  pins: readonly SkillPin[],
): Promise<LoadedSkill[]> {
  const loaded = pins.map(async (pin): Promise<LoadedSkill | undefined> => {
    const stored = await repository.find(skill, pin.skill_id, { organization });
    const version = stored && (await getSkillVersion(repository.store, stored.id, pin.version));
    const files = version && (await readSkillFiles(repository.store, version));
    if (!version || !files) return undefined;
    const { id, skillId, name, description } = version;
    const main = files.find(({ path }) => path === 'SKILL.md')?.bytes.toString('utf8') ?? '';
    return {
      id: skillId,
      version: id,
      name,
      description,
      instructions: instructionsOf(main),
      files,
    };
  });
  return (await Promise.all(loaded)).filter((one) => one !== undefined);
}
