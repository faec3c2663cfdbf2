import type { Tool } from './canonical.ts';

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
