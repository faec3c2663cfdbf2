import { suggest } from '../../core/suggest.ts';
import { usageError } from '../cli-error.ts';
import { CODING_TOOLS } from './coding-tools.ts';
import { EDITORS, LIBRARIES, WEB_TOOLS } from './other-tools.ts';
import type { Tool } from './tool.ts';

/** Every tool that `gateway connect` knows, in the order in which it lists them. */
export const TOOLS: readonly Tool[] = [...CODING_TOOLS, ...EDITORS, ...WEB_TOOLS, ...LIBRARIES];

/** Exit 64 with the nearest name for an unknown tool. */
export function findTool(name: string): Tool {
  const found = TOOLS.find((tool) => tool.name === name || tool.aliases?.includes(name));
  if (found) return found;
  const names = TOOLS.map((tool) => tool.name);
  throw usageError(`no tool is called "${name}"`, suggest(name, names));
}
