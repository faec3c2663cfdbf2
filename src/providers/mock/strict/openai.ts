import { firstRepeated, objectOf, objectsOf, wordOf } from './rule.ts';
import type { JsonObject, BoundWords, StrictProtocol, StrictRule } from './rule.ts';

const REFERENCE = 'https://github.com/openai/openai-openapi';
const REASONING = 'https://platform.openai.com/docs/guides/reasoning';
const NAME = /^[a-zA-Z0-9_-]+$/;
const MAX_NAME = 64;
const LATEST = 'https://developers.openai.com/api/docs/guides/latest-model';
/** Models that reason, their efforts, and the one of a request without any (medium); the first that fits decides. */
const MODELS: readonly (readonly [models: RegExp, efforts: string, usual?: string])[] = [
  [/gpt-[\d.]+-chat/, ''],
  [/(?:^|\/)o[1-9](?![a-z0-9])/, 'low medium high'],
  [/gpt-[\d.]+-pro/, 'medium high xhigh'],
  [/gpt-[\d.]+-codex/, 'low medium high xhigh'],
  [/gpt-[\d.]+-astra|gpt-6\.[1-9]-sol/, 'low medium high xhigh max'],
  [/gpt-(?:5\.(?:[6-9]|\d\d)|[6-9])(?!\d)/, 'none low medium high xhigh max'],
  [/gpt-5\.5/, 'none low medium high xhigh'],
  [/gpt-5\.[2-4]/, 'none low medium high xhigh', 'none'],
  [/gpt-5\.1/, 'none low medium high', 'none'],
  [/gpt-5(?!\d)/, 'minimal low medium high'],
];
/** Models that lack `max` in chat. */
const WITHOUT_MAX = /gpt-6\.[1-9]-sol/;
/** GPT-5.4 and later, which take tools with reasoning only in Responses. */
const TOOLS_IN_RESPONSES = /gpt-(?:5\.(?:[4-9]|\d\d)|[6-9])(?!\d)/;

/** Efforts of a model in a protocol; none for one that does not reason. */
function effortsOf(model: string, protocol: 'chat' | 'responses'): string[] {
  const [, words = ''] = MODELS.find(([models]) => models.test(model)) ?? [];
  const efforts = words.split(' ').filter(Boolean);
  const lacks = protocol === 'chat' && WITHOUT_MAX.test(model);
  return lacks ? efforts.filter((one) => one !== 'max') : efforts;
}

/** Effort that a request states in either protocol, else that of its model. */
function effortOf({ reasoning_effort, reasoning }: JsonObject, model: string): string {
  const stated = reasoning_effort ?? objectOf(reasoning)['effort'];
  if (typeof stated === 'string') return stated;
  const found = MODELS.find(([models]) => models.test(model));
  return found?.[1] ? (found[2] ?? 'medium') : 'none';
}

export const OPENAI_WORDS: BoundWords = {
  path: (steps) =>
    steps
      .map((step, at) => (typeof step === 'number' ? `[${step}]` : at ? `.${step}` : step))
      .join(''),
  pattern: (path, { source }) =>
    `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '${source}'.`,
  tooLong: (path, most, length) =>
    `Invalid '${path}': string too long. Expected a string with maximum length ${most}, but got a string with length ${length} instead.`,
  tooMany: (path, most, length) =>
    `Invalid '${path}': array too long. Expected an array with maximum length ${most}, but got an array with length ${length} instead.`,
  tooLittle: (path, least, value) =>
    `Invalid '${path}': integer below minimum value. Expected a value >= ${least}, but got ${value} instead.`,
};

/** A chosen function is one of the tools. */
function unknownChoice({ tools, tool_choice }: JsonObject): string | undefined {
  if (tool_choice === undefined || tool_choice === null) return undefined;
  const listed = objectsOf(tools);
  if (listed.length === 0 && tool_choice !== 'none')
    return "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
  const choice = objectOf(tool_choice);
  if (choice['type'] !== 'function') return undefined;
  const name = choice['name'] ?? objectOf(choice['function'])['name'];
  const names = listed.map((tool) => tool['name'] ?? objectOf(tool['function'])['name']);
  return names.includes(name)
    ? undefined
    : `Invalid value for 'tool_choice': tool '${wordOf(name)}' is not in 'tools'.`;
}

const CHOICE: StrictRule = {
  source: `${REFERENCE}#tool_choice`,
  refusal: unknownChoice,
};

function effortRule(protocol: 'chat' | 'responses', member: string): StrictRule {
  return {
    source: LATEST,
    refusal(body, model) {
      const efforts = effortsOf(model, protocol);
      const effort = effortOf(body, model);
      if (efforts.length === 0 || efforts.includes(effort)) return undefined;
      const names = efforts.map((one) => `'${one}'`).join(', ');
      return `Unsupported value: '${member}' does not support '${effort}' with this model. Supported values are: ${names}.`;
    },
  };
}

const SAMPLING: StrictRule = {
  source: REASONING,
  refusal(body, model) {
    const name = ['temperature', 'top_p'].find((one) => (body[one] ?? 1) !== 1);
    return name === undefined || effortOf(body, model) === 'none'
      ? undefined
      : `Unsupported value: '${name}' does not support ${wordOf(body[name])} with this model. Only the default (1) value is supported.`;
  },
};

/** Every result follows the turn with its call, and every call has one. */
function unansweredCall({ messages }: JsonObject): string | undefined {
  let open = new Set<unknown>();
  for (const message of objectsOf(messages)) {
    if (message['role'] === 'tool') {
      if (!open.delete(message['tool_call_id']))
        return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
      continue;
    }
    if (open.size > 0) break;
    open = new Set(objectsOf(message['tool_calls']).map(({ id }) => id));
  }
  return open.size === 0
    ? undefined
    : `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`;
}

export const OPENAI_CHAT: StrictProtocol = {
  protocol: 'chat',
  reference: REFERENCE,
  bounds: [
    { at: 'tools', most: 128 },
    { at: 'tools[].function.name', pattern: NAME, most: MAX_NAME },
    { at: 'tool_choice.function.name', pattern: NAME, most: MAX_NAME },
    { at: 'messages[].tool_calls[].function.name', pattern: NAME, most: MAX_NAME },
    { at: 'messages[].tool_calls[].id', most: 40 },
    { at: 'messages[].tool_call_id', most: 40 },
    { at: 'messages[].name', pattern: NAME, most: MAX_NAME },
    { at: 'response_format.json_schema.name', pattern: NAME, most: MAX_NAME },
    { at: 'stop', most: 4 },
    { at: 'user', most: 64 },
  ],
  rules: [
    { source: 'https://platform.openai.com/docs/guides/function-calling', refusal: unansweredCall },
    CHOICE,
    SAMPLING,
    {
      models: TOOLS_IN_RESPONSES,
      source: LATEST,
      refusal: (body, model) =>
        objectsOf(body['tools']).some(({ type }) => type === 'function') &&
        effortOf(body, model) !== 'none'
          ? `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`
          : undefined,
    },
    effortRule('chat', 'reasoning_effort'),
    {
      source: REASONING,
      refusal: ({ max_tokens }, model) =>
        max_tokens === undefined || effortsOf(model, 'chat').length === 0
          ? undefined
          : "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    },
  ],
};

const CALLS: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
};

/** Every output has a call before it and every call an output; ids name one call each. */
function unpairedItem({ input, previous_response_id }: JsonObject): string | undefined {
  const items = objectsOf(input);
  const idsOf = (types: readonly string[]): unknown[] =>
    items.filter(({ type }) => types.includes(wordOf(type))).map(({ call_id }) => call_id);
  const calls = idsOf(Object.keys(CALLS));
  const outputs = idsOf(Object.values(CALLS));
  const repeated = firstRepeated(calls);
  if (repeated !== undefined) return `Duplicate tool call found with call_id ${wordOf(repeated)}.`;
  const open = calls.find((id) => !outputs.includes(id));
  if (open !== undefined) return `No tool output found for function call ${wordOf(open)}.`;
  const alone = outputs.find((id) => !calls.includes(id));
  return alone === undefined || previous_response_id
    ? undefined
    : `No tool call found for function call output with call_id ${wordOf(alone)}.`;
}

export const OPENAI_RESPONSES: StrictProtocol = {
  protocol: 'responses',
  reference: REFERENCE,
  bounds: [
    { at: 'tools[].name', pattern: NAME, most: MAX_NAME },
    { at: 'tool_choice.name', pattern: NAME, most: MAX_NAME },
    { at: 'input[].name', pattern: NAME, most: MAX_NAME },
    { at: 'input[].call_id', most: 64 },
    { at: 'text.format.name', pattern: NAME, most: MAX_NAME },
    { at: 'max_output_tokens', least: 16 },
    { at: 'user', most: 64 },
  ],
  rules: [
    { source: 'https://platform.openai.com/docs/guides/function-calling', refusal: unpairedItem },
    CHOICE,
    SAMPLING,
    effortRule('responses', 'reasoning.effort'),
  ],
};
