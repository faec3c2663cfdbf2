import type { CanonicalRequest, Tool } from './canonical.ts';
import type { Feature } from '../features.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { defined, membersOf } from '../json-fields.ts';

type ToolMembers = Pick<CanonicalRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'>;

/** True where the tool of that name takes free text. */
function isCustomTool(tools: readonly Tool[], name: string): boolean {
  return tools.some(
    (tool) => tool.type === 'function' && tool.name === name && tool.custom !== undefined,
  );
}

/** Names in a list of tools, in either form of OpenAI's protocols. */
export function readToolNames(tools: unknown): string[] {
  if (!Array.isArray(tools)) return [];
  return tools.filter(isJsonObject).flatMap((tool) => {
    const { name } = membersOf(tool['function'] ?? tool['custom'] ?? tool);
    return typeof name === 'string' ? [name] : [];
  });
}

/** True where a prompt cache ends after one of them. */
export function hasCacheMark(tools: readonly Tool[]): boolean {
  return tools.some((tool) => tool.type === 'function' && tool.cache !== undefined);
}

/** Declares that a choice among tools is lost where none of them is left. */
export function loseChoice(
  { toolChoice, parallelToolCalls }: Pick<ToolMembers, 'toolChoice' | 'parallelToolCalls'>,
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
