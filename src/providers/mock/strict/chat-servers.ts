import { objectOf, objectsOf, wordOf } from './rule.ts';
import type { JsonObject, StrictProtocol, StrictRule } from './rule.ts';

const MISTRAL_TYPES = 'https://github.com/mistralai/mistral-common';
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ID = /^[a-zA-Z0-9]{9}$/;
/** Roles that may follow another one; absent: any may. */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  system: ['system', 'user', 'assistant'],
  user: ['system', 'user', 'assistant'],
  assistant: ['assistant', 'user', 'tool'],
  tool: ['assistant', 'tool'],
};

const roleOf = ({ role }: JsonObject): string => wordOf(role);

function misplacedRole({ messages }: JsonObject): string | undefined {
  const all = objectsOf(messages);
  for (const [index, message] of all.entries()) {
    const before = all[index - 1];
    const allowed = before && FOLLOWS[roleOf(before)];
    if (allowed && !allowed.includes(roleOf(message)))
      return `Unexpected role '${roleOf(message)}' after role '${roleOf(before)}'`;
  }
  const last = all.at(-1);
  const isPrefix = last?.['role'] === 'assistant' && last['prefix'] === true;
  return last && !isPrefix && !['user', 'tool'].includes(roleOf(last))
    ? `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${roleOf(last)}`
    : undefined;
}

function unpairedCall({ messages }: JsonObject): string | undefined {
  const all = objectsOf(messages);
  const calls = all.flatMap((message) => objectsOf(message['tool_calls'])).length;
  const results = all.filter(({ role }) => role === 'tool').length;
  return calls === results ? undefined : 'Not the same number of function calls and responses';
}

function badId({ messages }: JsonObject): string | undefined {
  const all = objectsOf(messages);
  const ids = all.flatMap((message) => [
    ...objectsOf(message['tool_calls']).map(({ id }) => id),
    ...(message['role'] === 'tool' ? [message['tool_call_id']] : []),
  ]);
  const id = ids.find((one) => !ID.test(wordOf(one)));
  return id === undefined
    ? undefined
    : `Tool call id was ${wordOf(id)} but must be a-z, A-Z, 0-9, with a length of 9.`;
}

/** Refuses a member of the assistant's messages. */
const refusesMember = (
  member: string,
  { source, words }: { source: string; words: (index: number) => string },
): StrictRule => ({
  source,
  refusal({ messages }) {
    const index = objectsOf(messages).findIndex((message) => message[member] !== undefined);
    return index < 0 ? undefined : words(index);
  },
});

export const MISTRAL_CHAT: StrictProtocol = {
  protocol: 'chat',
  reference: 'https://docs.mistral.ai/api',
  bounds: [
    { at: 'tools[].function.name', pattern: NAME },
    { at: 'messages[].tool_calls[].function.name', pattern: NAME },
  ],
  rules: [
    { source: MISTRAL_TYPES, refusal: badId },
    { source: MISTRAL_TYPES, refusal: misplacedRole },
    { source: MISTRAL_TYPES, refusal: unpairedCall },
    ...['reasoning_content', 'reasoning', 'reasoning_details'].map((member) =>
      refusesMember(member, {
        source: 'https://docs.mistral.ai/api',
        words: (index) =>
          `body.messages.${index}.assistant.${member}: Extra inputs are not permitted`,
      }),
    ),
  ],
};

const unsupported = (member: string): StrictRule =>
  refusesMember(member, {
    source: 'https://console.groq.com/docs/reasoning',
    words: (index) =>
      `'messages.${index}' : for 'role:assistant' the following must be satisfied[('messages.${index}' : property '${member}' is unsupported)]`,
  });

export const GROQ_CHAT: StrictProtocol = {
  protocol: 'chat',
  reference: 'https://console.groq.com/docs/api-reference',
  bounds: [{ at: 'tools', most: 128 }],
  rules: [unsupported('reasoning_content'), unsupported('reasoning_details')],
  reasoning: 'reasoning',
};

/** Calls come back with the reasoning that led to them, unless reasoning is switched off. */
const needsReasoning = ({
  words,
  ...rule
}: Pick<StrictRule, 'models' | 'source'> & { words: (index: number) => string }): StrictRule => ({
  ...rule,
  refusal({ messages, thinking }) {
    if (objectOf(thinking)['type'] === 'disabled') return undefined;
    const index = objectsOf(messages).findIndex(
      ({ tool_calls, reasoning_content }) => objectsOf(tool_calls).length > 0 && !reasoning_content,
    );
    return index < 0 ? undefined : words(index);
  },
});

export const DEEPSEEK_CHAT: StrictProtocol = {
  protocol: 'chat',
  reference: 'https://api-docs.deepseek.com/api/create-chat-completion',
  bounds: [
    { at: 'tools', most: 128 },
    { at: 'tools[].function.name', pattern: NAME },
  ],
  rules: [
    needsReasoning({
      models: /deepseek-(?:v[4-9]|reasoner)/i,
      source: 'https://api-docs.deepseek.com/guides/thinking_mode',
      words: () => 'The `reasoning_content` in the thinking mode must be passed back to the API.',
    }),
  ],
};

export const MOONSHOT_CHAT: StrictProtocol = {
  protocol: 'chat',
  reference: 'https://platform.moonshot.ai/docs/api/chat',
  bounds: [],
  rules: [
    needsReasoning({
      models: /kimi-(?:k2[.-][5-9]|k[3-9]|k2-thinking)/i,
      source: 'https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model',
      words: (index) =>
        `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
    }),
  ],
};

/** A server that renders the conversation with the template of the model's maker, as llama.cpp does. */
export const TEMPLATE_CHAT: StrictProtocol = {
  protocol: 'chat',
  reference: 'https://github.com/ggml-org/llama.cpp/tree/master/tools/server',
  bounds: [],
  rules: [
    {
      source: 'https://huggingface.co/Qwen/Qwen3.5-397B-A17B/blob/main/chat_template.jinja',
      refusal: ({ messages }) =>
        objectsOf(messages).some(({ role }, index) => role === 'system' && index > 0)
          ? 'Jinja Exception: System message must be at the beginning.'
          : undefined,
    },
  ],
};
