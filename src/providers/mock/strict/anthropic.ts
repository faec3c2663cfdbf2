import { firstRepeated, objectOf, objectsOf, wordOf } from './rule.ts';
import type { JsonObject, BoundWords, StrictProtocol, StrictRule } from './rule.ts';

const REFERENCE = 'https://docs.claude.com/en/api/messages';
const THINKING = 'https://docs.claude.com/en/docs/build-with-claude/extended-thinking';
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const ID = /^[a-zA-Z0-9_-]+$/;
/** Claude from 4.6 on, which continues no turn of the assistant. */
const NO_PREFILL = /claude-(?:\w+-)?(?:4[.-](?:[6-9]|\d\d)(?!\d)|[5-9](?!\d))/;
const PREFILL = /claude-(?:3|(?:\w+-)?4(?![.-](?:[6-9]|\d\d)(?!\d)))/;
/** Opus from 4.7 on, and all from 5 on: their own measure of thinking and no sampling. */
const ADAPTIVE = /claude-(?:opus-4[.-](?:[7-9]|\d\d)(?!\d)|(?:\w+-)?[5-9](?!\d))/;
const MAX_BREAKPOINTS = 4;

export const PYDANTIC_WORDS: BoundWords = {
  path: (steps) => steps.join('.'),
  pattern: (path, { source }) => `${path}: String should match pattern '${source}'`,
  tooLong: (path, most) => `${path}: String should have at most ${most} characters`,
  tooMany: (path, most, length) =>
    `${path}: List should have at most ${most} items after validation, not ${length}`,
  tooLittle: (path, least) => `${path}: Input should be greater than or equal to ${least}`,
};

const blocksOf = ({ content }: JsonObject): JsonObject[] => objectsOf(content);
const idsOf = (message: JsonObject | undefined, type: string, member: string): unknown[] =>
  blocksOf(message ?? {})
    .filter((block) => block['type'] === type)
    .map((block) => block[member]);

/** Calls have ids of their own, and their results in the next message. */
function unpairedBlock({ messages }: JsonObject): string | undefined {
  const all = objectsOf(messages);
  const repeated = firstRepeated(all.flatMap((message) => idsOf(message, 'tool_use', 'id')));
  if (repeated !== undefined) return `messages: \`tool_use\` ids must be unique`;
  for (const [index, message] of all.entries()) {
    const results = idsOf(message, 'tool_result', 'tool_use_id');
    const calls = idsOf(all[index - 1], 'tool_use', 'id');
    const stray = results.find((id) => !calls.includes(id));
    if (stray !== undefined)
      return `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${wordOf(stray)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    const open = calls.find((id) => !results.includes(id));
    if (open !== undefined)
      return `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${wordOf(open)}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
  }
  return undefined;
}

/** Roles, and texts that hold something. */
function misplacedMessage({ messages, system }: JsonObject): string | undefined {
  const all = objectsOf(messages);
  if (all[0] && all[0]['role'] !== 'user')
    return 'messages: first message must use the "user" role';
  for (const [index, { role, content }] of all.entries()) {
    const isEmpty = content === '' || (Array.isArray(content) && content.length === 0);
    if (isEmpty && (role !== 'assistant' || index < all.length - 1))
      return `messages.${index}: all messages must have non-empty content except for the optional final assistant message`;
  }
  const texts = [...objectsOf(system), ...all.flatMap(blocksOf)]
    .filter(({ type }) => type === 'text')
    .map(({ text }) => wordOf(text));
  if (texts.includes('')) return 'messages: text content blocks must be non-empty';
  return texts.some((text) => text.trim() === '')
    ? 'messages: text content blocks must contain non-whitespace text'
    : undefined;
}

function lastText({ messages }: JsonObject): string | undefined {
  const last = objectsOf(messages).at(-1);
  if (last?.['role'] !== 'assistant') return undefined;
  if (typeof last['content'] === 'string') return last['content'];
  return wordOf(blocksOf(last).at(-1)?.['text'] ?? '');
}

function fault(text: string, isBroken: unknown): string | undefined {
  return isBroken ? text : undefined;
}

const THINKS: readonly StrictRule[] = [
  {
    source: THINKING,
    refusal: ({ thinking, temperature = 1 }) =>
      fault(
        '`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.',
        isThinking(thinking) && temperature !== 1,
      ),
  },
  {
    source: THINKING,
    refusal: ({ thinking, max_tokens }) =>
      fault(
        '`max_tokens` must be greater than `thinking.budget_tokens`.',
        Number(objectOf(thinking)['budget_tokens']) >= Number(max_tokens),
      ),
  },
  {
    source: THINKING,
    refusal: ({ thinking, tool_choice }) =>
      fault(
        'Thinking may not be enabled when tool_choice forces tool use.',
        isThinking(thinking) && ['any', 'tool'].includes(wordOf(objectOf(tool_choice)['type'])),
      ),
  },
  {
    source: THINKING,
    refusal({ thinking, messages }) {
      const all = objectsOf(messages);
      const turn = all.findLast(({ role }) => role === 'assistant');
      const [first] = turn ? blocksOf(turn) : [];
      const isLoop = turn && idsOf(turn, 'tool_use', 'id').length > 0 && all.at(-2) === turn;
      const isMeant = objectOf(thinking)['type'] === 'enabled' && isLoop;
      const type = wordOf(first?.['type']);
      return fault(
        `messages.${all.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
        isMeant && !type.endsWith('thinking'),
      );
    },
  },
];

function isThinking(thinking: unknown): boolean {
  return ['enabled', 'adaptive'].includes(wordOf(objectOf(thinking)['type']));
}

export const ANTHROPIC_MESSAGES: StrictProtocol = {
  protocol: 'messages',
  reference: REFERENCE,
  bounds: [
    { at: 'tools[].name', pattern: NAME },
    { at: 'tool_choice.name', pattern: NAME },
    { at: 'messages[].content[].name', pattern: NAME },
    { at: 'messages[].content[].id', pattern: ID },
    { at: 'messages[].content[].tool_use_id', pattern: ID },
    { at: 'thinking.budget_tokens', least: 1024 },
    { at: 'stop_sequences[]', pattern: /\S/ },
    { at: 'metadata.user_id', pattern: /^[^@]*(?:@[^@.]*)*$/, most: 256 },
  ],
  rules: [
    { source: REFERENCE, refusal: misplacedMessage },
    { source: REFERENCE, refusal: unpairedBlock },
    ...THINKS,
    {
      source: REFERENCE,
      refusal: ({ tools, tool_choice }) => {
        const { type, name } = objectOf(tool_choice);
        const names = objectsOf(tools).map((tool) => tool['name']);
        return fault(
          `Tool '${wordOf(name)}' not found in provided tools`,
          type === 'tool' && !names.includes(name),
        );
      },
    },
    {
      source: 'https://docs.claude.com/en/docs/build-with-claude/prompt-caching',
      refusal(body) {
        const found = JSON.stringify(body).split('"cache_control":{').length - 1;
        return fault(
          `A maximum of ${MAX_BREAKPOINTS} blocks with cache_control may be provided. Found ${found}.`,
          found > MAX_BREAKPOINTS,
        );
      },
    },
    {
      models: NO_PREFILL,
      source: 'https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-6',
      refusal: (body) =>
        fault(
          'This model does not support assistant message prefill. The conversation must end with a user message.',
          lastText(body) !== undefined,
        ),
    },
    {
      models: PREFILL,
      source: REFERENCE,
      refusal: (body) =>
        fault(
          'messages: final assistant content cannot end with trailing whitespace',
          /\s$/.test(lastText(body) ?? ''),
        ),
    },
    {
      models: ADAPTIVE,
      source: 'https://docs.claude.com/en/docs/about-claude/models/migration-guide',
      refusal: ({ thinking }) =>
        fault(
          '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
          objectOf(thinking)['type'] === 'enabled',
        ),
    },
    {
      models: ADAPTIVE,
      source: 'https://docs.claude.com/en/docs/about-claude/models/migration-guide',
      refusal(body) {
        const name = ['temperature', 'top_p', 'top_k'].find((one) => body[one] !== undefined);
        return fault(`\`${name}\` is deprecated for this model.`, name !== undefined);
      },
    },
    {
      models: /claude-(?:\w+-)?4[.-][1-6](?!\d)/,
      source: 'https://docs.claude.com/en/docs/about-claude/models/migrating-to-claude-4',
      refusal: ({ temperature, top_p }) =>
        fault(
          '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
          temperature !== undefined && top_p !== undefined,
        ),
    },
  ],
};
