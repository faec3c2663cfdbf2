import { firstRepeated, objectOf, objectsOf, wordOf } from './rule.ts';
import type { JsonObject, BoundWords, StrictProtocol, StrictRule } from './rule.ts';

const REFERENCE = 'https://github.com/openai/openai-openapi';
const REASONING = 'https://platform.openai.com/docs/guides/reasoning';
const NAME = /^[a-zA-Z0-9_-]+$/;
const MAX_NAME = 64;
/** Models that reason, and so take no sampling: o1 to o4, and GPT-5 before it had the effort `none`. */
const ALWAYS_REASONS = /(?:^|\/)(?:o[1-9](?![a-z0-9])|gpt-5(?![.\d])(?!-chat))/;
/** GPT-5.4 and later, which take tools with reasoning only in Responses. */
const TOOLS_IN_RESPONSES = /gpt-(?:5\.(?:[4-9]|\d\d)|[6-9])(?!\d)/;

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

const SAMPLING: StrictRule = {
  models: ALWAYS_REASONS,
  source: REASONING,
  refusal(body) {
    const name = ['temperature', 'top_p'].find((one) => (body[one] ?? 1) !== 1);
    return name === undefined
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
      models: ALWAYS_REASONS,
      source: REASONING,
      refusal: ({ max_tokens }) =>
        max_tokens === undefined
          ? undefined
          : "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    },
    {
      models: TOOLS_IN_RESPONSES,
      source: 'https://platform.openai.com/docs/guides/latest-model',
      refusal: ({ tools, reasoning_effort }, model) =>
        objectsOf(tools).some(({ type }) => type === 'function') && reasoning_effort !== 'none'
          ? `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. Please use /v1/responses instead.`
          : undefined,
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
  ],
};
