import type { ResolvedAgent } from '../sessions/resolved-agent.ts';

/** A Skill as far as the model is told it. */
export interface TurnSkill {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
}

/** What the model is told before all else: the Agent's own words, then those of its Skills. */
export function toInstructions(
  { system }: Pick<ResolvedAgent, 'system'>,
  skills: readonly TurnSkill[],
): string {
  const texts = skills.map(
    ({ name, description, instructions }) =>
      `# Skill: ${name}\n\nUse it for: ${description}\n\n${instructions.trim()}`,
  );
  return [system ?? '', ...texts].filter((text) => text !== '').join('\n\n');
}
