import { isJsonObject } from '../../../core/json-value.ts';
import type {
  CanonicalRequest,
  FunctionTool,
  Grammar,
  OutputSchema,
  ReasoningRequest,
  Tool,
} from '../../canonical.ts';
import type { RequestPeek } from '../../protocol.ts';
import {
  defined,
  invalid,
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
import { readMessages } from './read-messages.ts';

/**
 * A chat request in the canonical form (contract: Chat completions).
 *
 * @throws GatewayError `invalid_request` with `param`
 */
export function readChatRequest({ json, stream, calls }: RequestPeek): CanonicalRequest {
  const { value } = json;
  const unmapped = unmappedFields(value);
  const number = (name: string): number | undefined => readNumber(value[name], name);
  const text = (name: string): string | undefined => readText(value[name], name);
  const functions = readList(value['functions'], 'functions') ?? [];
  const tools = readList(value['tools'], 'tools') ?? [];
  return {
    turns: readMessages(value['messages'], unmapped),
    tools: [
      ...tools.map((tool, index) => readTool(tool, `tools[${index}]`)),
      ...functions.map((tool, index) => readFunction(tool, `functions[${index}]`)),
    ],
    ...defined({
      toolChoice: readToolChoice(value, unmapped),
      // The older form of a call has room for one.
      parallelToolCalls: calls?.isLegacy
        ? false
        : readFlag(value['parallel_tool_calls'], 'parallel_tool_calls'),
      maxOutputTokens: number('max_completion_tokens') ?? number('max_tokens'),
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
      logprobs: readLogprobs(value),
      user: text('user') ?? text('safety_identifier'),
      metadata: readTexts(value['metadata'], 'metadata'),
      serviceTier: text('service_tier'),
    }),
    stream,
    unmapped,
  };
}

/** What is read above, or means nothing to another protocol. */
const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'messages',
  'functions',
  'function_call',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_completion_tokens',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'reasoning_effort',
  'reasoning',
  'response_format',
  'verbosity',
  'logprobs',
  'top_logprobs',
  'user',
  'safety_identifier',
  'metadata',
  'service_tier',
]);

/** Values that ask for what is done anyway. */
const USUAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value === 1,
  store: (value) => value === false,
  modalities: (value) => Array.isArray(value) && value.every((one) => one === 'text'),
};

function unmappedFields(value: Members): string[] {
  return Object.keys(value).filter((name) => {
    const one = value[name];
    if (KNOWN.has(name) || one === undefined || one === null) return false;
    return !(Object.hasOwn(USUAL, name) && USUAL[name]?.(one));
  });
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
  const choice = value['tool_choice'] ?? value['function_call'];
  if (choice === undefined || choice === null) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (choice === 'any') return 'required';
  if (!isJsonObject(choice)) throw invalid('tool_choice', 'auto, none, required or an object');
  const named = choice['function'] ?? choice['custom'] ?? choice;
  const name = isJsonObject(named) ? named['name'] : undefined;
  if (typeof name === 'string') return { name };
  // A choice among several tools.
  unmapped.push('tool_choice');
  return undefined;
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

function readLogprobs(value: Members): number | undefined {
  const wanted = readFlag(value['logprobs'], 'logprobs');
  const top = readNumber(value['top_logprobs'], 'top_logprobs');
  return wanted === true ? (top ?? 0) : undefined;
}
