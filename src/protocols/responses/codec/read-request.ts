import type { Steps } from '../../../core/turns/in-turns.ts';
import type {
  CanonicalRequest,
  Grammar,
  OutputSchema,
  ReasoningRequest,
  Tool,
  Turn,
} from '../../canonical/canonical.ts';
import type { RequestPeek } from '../../protocol.ts';
import {
  defined,
  firstOf,
  invalid,
  membersOf,
  readFlag,
  readList,
  readNumber,
  readObject,
  readText,
  readTexts,
  requireObject,
  requireText,
} from '../../json-fields.ts';
import { unsupported } from './fields.ts';
import type { Members } from '../../json-fields.ts';
import { readInput } from './read-input.ts';
import { readToolNames } from '../../canonical/tools.ts';
import { unreadMembers } from '../../canonical/unread-members.ts';
import { RESPONSES_REQUEST } from './request-shape.ts';

/** Values that ask for the default. */
const USUAL: Readonly<Record<string, unknown>> = {
  store: false,
  background: false,
  truncation: 'disabled',
};

const INCLUDED: readonly unknown[] = [
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
];

/** Members of a request without a canonical form. */
function* unmappedFields(value: Members): Steps<string[]> {
  const all = yield* unreadMembers(value, RESPONSES_REQUEST);
  const unread = all.filter((name) => !Object.hasOwn(USUAL, name) || USUAL[name] !== value[name]);
  const { include } = value;
  const isKnown = !Array.isArray(include) || include.every((one) => INCLUDED.includes(one));
  return isKnown ? unread : [...unread, 'include'];
}

/** Members that name state at the provider from which the request continues. */
const STORED = ['previous_response_id', 'conversation', 'prompt'];

/**
 * A Responses request in the canonical form (contract: Responses).
 *
 * @throws GatewayError `invalid_request` with `param`; `unsupported_feature` for what refers to things
 *   that a provider keeps
 */
export function* readResponsesRequest({ json, stream }: RequestPeek): Steps<CanonicalRequest> {
  const { value } = json;
  for (const name of STORED) {
    if (value[name] !== undefined && value[name] !== null) throw unsupported(name);
  }
  const unmapped = new Set(yield* unmappedFields(value));
  const number = (name: string): number | undefined => readNumber(value[name], name);
  const text = (name: string): string | undefined => readText(value[name], name);
  const instructions = readInstructions(value['instructions']);
  const { turns, tools, settings } = yield* readInput(value['input'], unmapped);
  const config = {
    ...readObject(value['text'], 'text'),
    ...readObject(settings['text'], 'text'),
  };
  const thinking = {
    ...readObject(value['reasoning'], 'reasoning'),
    ...readObject(settings['reasoning'], 'reasoning'),
  };
  const declared = readList(value['tools'], 'tools') ?? [];
  return {
    turns: [...instructions, ...turns],
    tools: withoutDoubles([
      ...declared.map((tool, index) => readTool(tool, `tools[${index}]`)),
      ...tools.map(([tool, param]) => readTool(tool, param)),
    ]),
    ...defined({
      toolChoice: readToolChoice(value['tool_choice'], unmapped),
      allowedTools: readAllowedTools(value['tool_choice']),
      parallelToolCalls: readFlag(value['parallel_tool_calls'], 'parallel_tool_calls'),
      maxOutputTokens: number('max_output_tokens'),
      temperature: number('temperature'),
      topP: number('top_p'),
      reasoning: readReasoning(thinking),
      output: readOutput(config['format']),
      verbosity: readText(config['verbosity'], 'text.verbosity'),
      logprobs: readLogprobs(value),
      user: text(firstOf(value, ['safety_identifier', 'user'], (name) => unmapped.add(name))),
      metadata: readTexts(value['metadata'], 'metadata'),
      serviceTier: text('service_tier'),
    }),
    stream,
    unmapped: [...unmapped],
  };
}

function readInstructions(instructions: unknown): Turn[] {
  const text = readText(instructions, 'instructions');
  return text === undefined ? [] : [{ role: 'system', parts: [{ type: 'text', text }] }];
}

/** A later declaration replaces a tool of its name. */
function withoutDoubles(tools: readonly Tool[]): Tool[] {
  const nameOf = (tool: Tool): unknown => (tool.type === 'function' ? tool.name : tool);
  return [...new Map(tools.map((tool) => [nameOf(tool), tool])).values()];
}

function readTool(value: unknown, param: string): Tool {
  const tool = requireObject(value, param);
  const { type } = tool;
  if (type === 'custom') return readCustom(tool, param);
  if (type !== 'function') {
    const path = `${param}.${requireText(type, `${param}.type`)}`;
    return { type: 'opaque', origin: 'responses', value: tool, path };
  }
  return {
    type: 'function',
    name: requireText(tool['name'], `${param}.name`),
    ...defined({
      description: readText(tool['description'], `${param}.description`),
      parameters: readObject(tool['parameters'], `${param}.parameters`),
      strict: readFlag(tool['strict'], `${param}.strict`),
    }),
  };
}

function readCustom(tool: Members, param: string): Tool {
  const format = readObject(tool['format'], `${param}.format`);
  return {
    type: 'function',
    name: requireText(tool['name'], `${param}.name`),
    ...defined({ description: readText(tool['description'], `${param}.description`) }),
    custom: format?.['type'] === 'grammar' ? { grammar: readGrammar(format, param) } : {},
  };
}

function readGrammar({ syntax, definition }: Members, param: string): Grammar {
  return {
    syntax: requireText(syntax, `${param}.format.syntax`),
    definition: requireText(definition, `${param}.format.definition`),
  };
}

function readToolChoice(
  choice: unknown,
  unmapped: Set<string>,
): CanonicalRequest['toolChoice'] | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const { type, name, mode } = requireObject(choice, 'tool_choice');
  if (type === 'allowed_tools') return mode === 'required' ? mode : 'auto';
  if (type === 'function' || type === 'custom')
    return { name: requireText(name, 'tool_choice.name') };
  // A choice of a tool that the provider runs itself.
  unmapped.add('tool_choice');
  return undefined;
}

function readAllowedTools(value: unknown): string[] | undefined {
  const { type, tools } = membersOf(value);
  return type === 'allowed_tools' ? readToolNames(tools) : undefined;
}

function readReasoning(object: Members): ReasoningRequest | undefined {
  const summary = readText(object['summary'] ?? object['generate_summary'], 'reasoning.summary');
  const asked = defined({
    effort: readText(object['effort'], 'reasoning.effort'),
    show: summary === undefined ? undefined : true,
  });
  return Object.keys(asked).length > 0 ? asked : undefined;
}

function readOutput(value: unknown): { type: 'json' } | OutputSchema | undefined {
  const format = readObject(value, 'text.format');
  if (!format || format['type'] === 'text') return undefined;
  if (format['type'] === 'json_object') return { type: 'json' };
  if (format['type'] !== 'json_schema')
    throw invalid('text.format.type', 'text, json_object or json_schema');
  return {
    type: 'schema',
    schema: requireObject(format['schema'], 'text.format.schema'),
    ...defined({
      name: readText(format['name'], 'text.format.name'),
      description: readText(format['description'], 'text.format.description'),
      strict: readFlag(format['strict'], 'text.format.strict'),
    }),
  };
}

/** Value of either of two fields. */
function readLogprobs({ top_logprobs: top, include }: Members): number | undefined {
  const count = readNumber(top, 'top_logprobs');
  const included = readList(include, 'include')?.includes('message.output_text.logprobs');
  return count ?? (included ? 0 : undefined);
}
