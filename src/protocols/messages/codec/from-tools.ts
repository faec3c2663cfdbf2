import { isJsonObject } from '../../../core/json/value.ts';
import type { CanonicalRequest, Tool } from '../../canonical/canonical.ts';
import { cacheOf } from './from-block.ts';
import { readObject, readText } from './members.ts';
import type { Members } from './members.ts';

type ToolFields = Pick<CanonicalRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'>;

/** The tools and how they are to be used; tools that the provider runs itself are carried as they are. */
export function fromTools({ tools, tool_choice }: Members, unmapped: Set<string>): ToolFields {
  const list = Array.isArray(tools) ? (tools as readonly unknown[]) : [];
  return {
    tools: list.map((tool, index) => fromTool(readObject(tool, `tools[${index}]`), index)),
    ...fromToolChoice(tool_choice, unmapped),
  };
}

function fromTool(tool: Members, index: number): Tool {
  const { type = 'custom', description, input_schema: parameters, strict } = tool;
  if (type !== null && type !== 'custom')
    return {
      type: 'opaque',
      origin: 'messages',
      value: tool,
      path: `tools[${index}].${readText(tool, 'type', `tools[${index}]`)}`,
    };
  return {
    type: 'function',
    name: readText(tool, 'name', `tools[${index}]`),
    ...(typeof description === 'string' && { description }),
    ...(isJsonObject(parameters) && { parameters }),
    ...(typeof strict === 'boolean' && { strict }),
    ...cacheOf(tool),
  };
}

function fromToolChoice(
  choice: unknown,
  unmapped: Set<string>,
): Pick<ToolFields, 'toolChoice' | 'parallelToolCalls'> {
  if (!isJsonObject(choice)) return {};
  const { type, name, disable_parallel_tool_use: single } = choice;
  const toolChoice =
    type === 'any'
      ? 'required'
      : type === 'auto' || type === 'none'
        ? type
        : type === 'tool' && typeof name === 'string'
          ? { name }
          : undefined;
  if (toolChoice === undefined) unmapped.add('tool_choice');
  return {
    ...(toolChoice !== undefined && { toolChoice }),
    ...(typeof single === 'boolean' && { parallelToolCalls: !single }),
  };
}
