import type { CanonicalRequest, Tool } from './canonical.ts';
import type { Feature } from '../features.ts';

/** True where the tool of that name takes free text. */
export function isCustomTool(tools: readonly Tool[], name: string): boolean {
  return tools.some(
    (tool) => tool.type === 'function' && tool.name === name && tool.custom !== undefined,
  );
}

/** True where a prompt cache ends behind one of them. */
export function hasCacheMark(tools: readonly Tool[]): boolean {
  return tools.some((tool) => tool.type === 'function' && tool.cache !== undefined);
}

/** Declares that a choice among tools is lost where none of them is left. */
export function loseChoice(
  { toolChoice, parallelToolCalls }: Pick<CanonicalRequest, 'toolChoice' | 'parallelToolCalls'>,
  losses: Set<Feature>,
): void {
  if (toolChoice !== undefined) losses.add('tool_choice');
  if (parallelToolCalls !== undefined) losses.add('parallel_tool_calls');
}
