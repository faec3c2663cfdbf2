import type { Buffer } from 'node:buffer';
import { instructionsOf } from './skill-files.ts';
import { getSkillVersion, readSkillFiles } from './skill-store.ts';
import type { SkillFile } from './skill-files.ts';
import type { SkillVersion } from './skill-store.ts';
import { skill } from '../kinds/skill.ts';
import type { Repository } from '../store/repository.ts';

export interface SkillPin {
  readonly skill_id: string;
  readonly version: string;
}

/** A Skill as a turn uses it: its description is known, the rest is read when it is wanted. */
export interface LoadedSkill {
  readonly id: string;
  readonly version: string;
  /** Unique among those of the Agent, and fit for a folder. */
  readonly name: string;
  readonly description: string;
  /** `SKILL.md` among them, by paths below the folder of the Skill. */
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** Reads all files; undefined when the version was deleted meanwhile. */
  read(): Promise<readonly SkillFile[] | undefined>;
}

/** The Skills of an Agent; one that was deleted meanwhile is left out. */
export async function loadSkills(
  repository: Repository,
  organization: string,
  pins: readonly SkillPin[],
): Promise<LoadedSkill[]> {
  const versions = await Promise.all(
    pins.map(async ({ skill_id: target, version }) => {
      const stored = await repository.find(skill, target, { organization });
      return stored && getSkillVersion(repository.store, stored.id, version);
    }),
  );
  const names = new Set<string>();
  return versions
    .filter((version) => version !== undefined)
    .map((version) => {
      const { name, skillId } = version;
      const called = names.has(name) ? `${name}-${skillId}` : name;
      names.add(called);
      return toLoaded(version, called, repository);
    });
}

function toLoaded(version: SkillVersion, name: string, { store }: Repository): LoadedSkill {
  const { id, skillId, description, files } = version;
  return {
    id: skillId,
    version: id,
    name,
    description,
    files: files.map(({ path, size }) => ({ path, size })),
    read: () => readSkillFiles(store, version),
  };
}

/** Instructions in the `SKILL.md` among the files, without its front matter. */
export function readInstructions(
  files: readonly { readonly path: string; readonly bytes: Buffer }[],
): string {
  return instructionsOf(
    files.find(({ path }) => path === 'SKILL.md')?.bytes.toString('utf8') ?? '',
  );
}
