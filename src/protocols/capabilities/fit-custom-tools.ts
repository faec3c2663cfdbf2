import { collectSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { CanonicalRequest, FunctionTool, Part, Turn } from '../canonical/canonical.ts';
import type { Feature } from '../features.ts';

/** Argument that holds the free text of a custom tool's call where it is called as a function. */
export const TEXT_ARGUMENT = 'input';

type Fitted = Pick<CanonicalRequest, 'turns' | 'tools'>;

/**
 * Custom tools and their calls as functions of one text.
 *
 * @param losses notes a grammar that is only described to the model, not enforced
 */
export function* fitCustomTools({ turns, tools }: Fitted, losses: Set<Feature>): Steps<Fitted> {
  return {
    turns: yield* collectSteps(turns, (turn) => [toFunctionCalls(turn)]),
    tools: tools.map((tool) => {
      if (tool.type !== 'function' || !tool.custom) return tool;
      if (tool.custom.grammar) losses.add('tool_grammars');
      return toFunction(tool);
    }),
  };
}

function toFunction({ custom, ...tool }: FunctionTool): FunctionTool {
  const grammar = custom?.grammar;
  const text = {
    type: 'string',
    ...(grammar && {
      description: `Text of this grammar (${grammar.syntax}):\n${grammar.definition}`,
    }),
  };
  const parameters = {
    type: 'object',
    properties: { [TEXT_ARGUMENT]: text },
    required: [TEXT_ARGUMENT],
  };
  return { ...tool, parameters };
}

function toFunctionCalls(turn: Turn): Turn {
  if (!turn.parts.some(isCustomCall)) return turn;
  return { ...turn, parts: turn.parts.map(toFunctionCall) };
}

function isCustomCall(part: Part): boolean {
  return part.type === 'tool_call' && part.custom === true;
}

/** The call as the one of a function, which has its text as an argument. */
export function toFunctionCall(part: Part): Part {
  if (part.type !== 'tool_call' || !part.custom) return part;
  const { custom: _custom, ...call } = part;
  return { ...call, arguments: JSON.stringify({ [TEXT_ARGUMENT]: part.arguments }) };
}

/** Free text in the arguments of a function that replaces a custom tool; any other as it is. */
export function customText(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    const text = (value as Record<string, unknown> | null)?.[TEXT_ARGUMENT];
    return typeof text === 'string' ? text : json;
  } catch {
    return json;
  }
}
