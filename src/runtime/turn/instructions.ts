import type { ResolvedAgent } from '../../sessions/resolved-agent.ts';

/** The part of a Skill that the model gets before it loads the Skill. */
export interface SkillTitle {
  readonly name: string;
  readonly description: string;
}

/** Instructions of the model: the Agent's own words, then its list of Skills. */
export function toInstructions(
  { system }: Pick<ResolvedAgent, 'system'>,
  skills: readonly SkillTitle[],
  tool: string,
): string {
  const how = `When one of them fits what you are asked, call \`${tool}\` with its name before you begin.`;
  const told = skills.length === 0 ? '' : tellSkills(skills, how);
  return [system ?? '', told].filter((text) => text !== '').join('\n\n');
}

/**
 * Lists the Skills, one a line.
 *
 * @param how how the model reads their contents
 */
export function tellSkills(skills: readonly SkillTitle[], how: string): string {
  const lines = skills.map(
    ({ name, description }) => `- ${name}: ${description.replaceAll(/\s+/g, ' ')}`,
  );
  return `# Skills\n\nYou have Skills: instructions and files for certain kinds of work. ${how}\n\n${lines.join('\n')}`;
}
