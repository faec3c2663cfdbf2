import type { CanonicalRequest, Tool } from './canonical.ts';
import type { Feature } from '../features.ts';
import { defined } from '../json-fields.ts';

type ToolMembers = Pick<CanonicalRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'>;

/** True where the tool of that name takes free text. */
function isCustomTool(tools: readonly Tool[], name: string): boolean {
  return tools.some(
    (tool) => tool.type === 'function' && tool.name === name && tool.custom !== undefined,
  );
}

/** True where a prompt cache ends after one of them. */
export function hasCacheMark(tools: readonly Tool[]): boolean {
  return tools.some((tool) => tool.type === 'function' && tool.cache !== undefined);
}

/** Declares that a choice among tools is lost where none of them is left. */
export function loseChoice(
  { toolChoice, parallelToolCalls }: Omit<ToolMembers, 'tools'>,
  losses: Set<Feature>,
): void {
  if (toolChoice !== undefined) losses.add('tool_choice');
  if (parallelToolCalls !== undefined) losses.add('parallel_tool_calls');
}

interface ToolShapes {
  writeTool(tool: Tool): unknown;
  writeChoice(name: string, isCustom: boolean): object;
}

/** `tools`, `tool_choice` and `parallel_tool_calls` of OpenAI's protocols; adds to `losses`. */
export function writeTools(
  { tools, toolChoice, parallelToolCalls }: ToolMembers,
  losses: Set<Feature>,
  { writeTool, writeChoice }: ToolShapes,
): object {
  if (hasCacheMark(tools)) losses.add('tool_cache_control');
  if (tools.length === 0) {
    loseChoice({ toolChoice, parallelToolCalls }, losses);
    return {};
  }
  const choice =
    typeof toolChoice === 'object'
      ? writeChoice(toolChoice.name, isCustomTool(tools, toolChoice.name))
      : toolChoice;
  return {
    tools: tools.map(writeTool),
    ...defined({ tool_choice: choice, parallel_tool_calls: parallelToolCalls }),
  };
}
