import type { Steps } from '../../../core/turns/in-turns.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import type {
  CanonicalRequest,
  FunctionTool,
  Grammar,
  OutputSchema,
  ReasoningRequest,
  Tool,
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
import type { Members } from '../../json-fields.ts';
import { cacheOf } from './read-content.ts';
import { readToolNames } from '../../canonical/tools.ts';
import { unreadMembers } from '../../canonical/unread-members.ts';
import { readMessages } from './read-messages.ts';
import { CHAT_REQUEST } from './request-shape.ts';

/**
 * A chat request in the canonical form (contract: Chat completions).
 *
 * @throws GatewayError `invalid_request` with `param`
 */
export function* readChatRequest({ json, stream, calls }: RequestPeek): Steps<CanonicalRequest> {
  const { value } = json;
  const unmapped = yield* unmappedFields(value);
  const number = (name: string): number | undefined => readNumber(value[name], name);
  const text = (name: string): string | undefined => readText(value[name], name);
  const either = (...names: [string, string]): string =>
    firstOf(value, names, (name) => unmapped.push(name));
  const functions = readList(value['functions'], 'functions') ?? [];
  const tools = readList(value['tools'], 'tools') ?? [];
  return {
    turns: yield* readMessages(value['messages'], unmapped),
    tools: [
      ...tools.map((tool, index) => readTool(tool, `tools[${index}]`)),
      ...functions.map((tool, index) => readFunction(tool, `functions[${index}]`)),
    ],
    ...defined({
      toolChoice: readToolChoice(value, unmapped),
      allowedTools: readAllowedTools(value),
      // The older form of a call holds one.
      parallelToolCalls: calls?.isLegacy
        ? false
        : readFlag(value['parallel_tool_calls'], 'parallel_tool_calls'),
      maxOutputTokens: number(either('max_completion_tokens', 'max_tokens')),
      temperature: number('temperature'),
      topP: number('top_p'),
      topK: number('top_k'),
      stop: readStop(value['stop']),
      seed: number('seed'),
      presencePenalty: number('presence_penalty'),
      frequencyPenalty: number('frequency_penalty'),
      reasoning: readReasoningRequest(value),
      output: readOutput(value['response_format']),
      verbosity: text('verbosity'),
      logprobs: readLogprobs(value, unmapped),
      user: text(either('user', 'safety_identifier')),
      metadata: readTexts(value['metadata'], 'metadata'),
      serviceTier: text('service_tier'),
    }),
    stream,
    unmapped,
  };
}

/** Values that ask for the default. */
const USUAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value === 1,
  store: (value) => value === false,
  modalities: (value) => Array.isArray(value) && value.every((one) => one === 'text'),
};

function* unmappedFields(value: Members): Steps<string[]> {
  const unread = yield* unreadMembers(value, CHAT_REQUEST);
  return unread.filter((name) => !(Object.hasOwn(USUAL, name) && USUAL[name]?.(value[name])));
}

function readTool(value: unknown, param: string): Tool {
  const tool = requireObject(value, param);
  const { type } = tool;
  if (type === 'function' || type === undefined)
    return { ...readFunction(tool['function'], `${param}.function`), ...cacheOf(tool) };
  if (type === 'custom')
    return { ...readCustom(tool['custom'], `${param}.custom`), ...cacheOf(tool) };
  const path = `${param}.${requireText(type, `${param}.type`)}`;
  return { type: 'opaque', origin: 'chat', value: tool, path };
}

function readCustom(value: unknown, param: string): FunctionTool {
  const { name, description, format } = requireObject(value, param);
  const given = readObject(format, `${param}.format`);
  return {
    type: 'function',
    name: requireText(name, `${param}.name`),
    ...defined({ description: readText(description, `${param}.description`) }),
    custom: given?.['type'] === 'grammar' ? readGrammar(given['grammar'], param) : {},
  };
}

function readGrammar(value: unknown, param: string): { grammar: Grammar } {
  const at = `${param}.format.grammar`;
  const { syntax, definition } = requireObject(value, at);
  return {
    grammar: {
      syntax: requireText(syntax, `${at}.syntax`),
      definition: requireText(definition, `${at}.definition`),
    },
  };
}

function readFunction(value: unknown, param: string): FunctionTool {
  const { name, description, parameters, strict } = requireObject(value, param);
  return {
    type: 'function',
    name: requireText(name, `${param}.name`),
    ...defined({
      description: readText(description, `${param}.description`),
      parameters: readObject(parameters, `${param}.parameters`),
      strict: readFlag(strict, `${param}.strict`),
    }),
  };
}

function readToolChoice(value: Members, unmapped: string[]): CanonicalRequest['toolChoice'] {
  const choice =
    value[firstOf(value, ['tool_choice', 'function_call'], (name) => unmapped.push(name))];
  if (choice === undefined || choice === null) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (choice === 'any') return 'required';
  if (!isJsonObject(choice)) throw invalid('tool_choice', 'auto, none, required or an object');
  const named = choice['function'] ?? choice['custom'] ?? choice;
  const name = isJsonObject(named) ? named['name'] : undefined;
  if (typeof name === 'string') return { name };
  const mode = membersOf(choice['allowed_tools'])['mode'];
  if (choice['type'] === 'allowed_tools') return mode === 'required' ? mode : 'auto';
  unmapped.push('tool_choice');
  return undefined;
}

function readAllowedTools({ tool_choice: choice }: Members): string[] | undefined {
  const { type, allowed_tools: allowed } = membersOf(choice);
  return type === 'allowed_tools' ? readToolNames(membersOf(allowed)['tools']) : undefined;
}

function readStop(stop: unknown): readonly string[] | undefined {
  if (typeof stop === 'string') return [stop];
  const list = readList(stop, 'stop');
  const texts = list?.map((one, index) => requireText(one, `stop[${index}]`));
  return texts?.length ? texts : undefined;
}

/** `reasoning_effort`, and the object that aggregators take. */
function readReasoningRequest(value: Members): ReasoningRequest | undefined {
  const object = readObject(value['reasoning'], 'reasoning') ?? {};
  const exclude = readFlag(object['exclude'], 'reasoning.exclude');
  const asked = defined({
    effort:
      readText(value['reasoning_effort'], 'reasoning_effort') ??
      readText(object['effort'], 'reasoning.effort'),
    budgetTokens: readNumber(object['max_tokens'], 'reasoning.max_tokens'),
    enabled: readFlag(object['enabled'], 'reasoning.enabled'),
    show: exclude === undefined ? undefined : !exclude,
  });
  return Object.keys(asked).length > 0 ? asked : undefined;
}

function readOutput(value: unknown): { type: 'json' } | OutputSchema | undefined {
  const format = readObject(value, 'response_format');
  if (!format || format['type'] === 'text') return undefined;
  if (format['type'] === 'json_object') return { type: 'json' };
  if (format['type'] !== 'json_schema')
    throw invalid('response_format.type', 'text, json_object or json_schema');
  const param = 'response_format.json_schema';
  const { name, description, schema, strict } = requireObject(format['json_schema'], param);
  return {
    type: 'schema',
    schema: readObject(schema, `${param}.schema`) ?? {},
    ...defined({
      name: readText(name, `${param}.name`),
      description: readText(description, `${param}.description`),
      strict: readFlag(strict, `${param}.strict`),
    }),
  };
}

function readLogprobs(value: Members, unmapped: string[]): number | undefined {
  const wanted = readFlag(value['logprobs'], 'logprobs');
  const top = readNumber(value['top_logprobs'], 'top_logprobs');
  if (wanted === true) return top ?? 0;
  if (top !== undefined) unmapped.push('top_logprobs');
  return undefined;
}
