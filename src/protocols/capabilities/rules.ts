import { BOUNDS } from './bounds.ts';
import type { Capabilities, Rule } from './capabilities.ts';
import { OPEN_MODELS } from './open-models.ts';
import { OPENAI_REASONING } from './openai-reasoning.ts';

const OPENAI = { vendor: 'openai', protocols: ['chat', 'responses'] } as const;
const GOOGLE = { vendor: 'google', protocols: ['generate-content'] } as const;
const ANTHROPIC = { vendor: 'anthropic', protocols: ['messages'] } as const;
const CLAUDE = ['claude-#', 'claude-*-#', 'claude-v#'];

const MID_CONVERSATION =
  'https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages';

/** Claude that measures its own thinking and takes no sampling at all. */
const ADAPTIVE_CLAUDE: Partial<Capabilities> = {
  thinking: 'adaptive',
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  sampling: false,
};

/**
 * Capabilities of vendors' models, from the general to the particular: a later row wins. Names are
 * found anywhere, because clouds and aggregators put their own words around them
 * (`anthropic.claude-…-v1:0`, `openai/gpt-5`).
 */
export const RULES: readonly Rule[] = [
  ...BOUNDS,
  {
    ...OPENAI,
    takes: {
      thinking: 'effort',
      efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
    },
    source: 'https://platform.openai.com/docs/guides/reasoning',
  },
  {
    vendor: 'openai',
    protocols: ['chat'],
    takes: { tool_id_length: 40 },
    source: 'https://platform.openai.com/docs/api-reference/chat',
  },
  {
    vendor: 'openai',
    protocols: ['chat'],
    takes: { consecutive_assistant_turns: false },
    source: 'https://platform.openai.com/docs/guides/function-calling',
  },
  {
    ...OPENAI,
    takes: { user_length: 64 },
    source: 'https://platform.openai.com/docs/guides/safety-best-practices',
  },
  {
    vendor: 'openai',
    protocols: ['responses'],
    takes: { tool_id_length: 64, min_output_tokens: 16 },
    source: 'https://platform.openai.com/docs/api-reference/responses',
  },
  ...OPENAI_REASONING,
  {
    ...ANTHROPIC,
    takes: {
      efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
      min_budget: 1024,
      sampling_with_thinking: false,
      top_p_with_thinking: 0.95,
      forced_tool_with_thinking: false,
    },
    source: 'https://docs.claude.com/en/docs/build-with-claude/extended-thinking',
  },
  {
    ...ANTHROPIC,
    takes: { document_types: ['application/pdf'] },
    source: 'https://docs.claude.com/en/docs/build-with-claude/pdf-support',
  },
  {
    ...ANTHROPIC,
    takes: {
      assistant_first: false,
      system_turns: false,
      custom_tools: false,
      blank_texts: false,
      personal_user: false,
    },
    source: 'https://docs.claude.com/en/api/messages',
  },
  {
    ...ANTHROPIC,
    takes: { budget_after_calls: false },
    source: 'https://platform.claude.com/docs/en/build-with-claude/thinking-tool-workflows',
  },
  {
    ...ANTHROPIC,
    takes: { any_schema: false },
    source: 'https://docs.claude.com/en/docs/build-with-claude/structured-outputs',
  },
  {
    ...ANTHROPIC,
    models: ['claude-opus-#', 'claude-#-opus'],
    from: '4.8',
    takes: { system_turns: true },
    source: MID_CONVERSATION,
  },
  {
    ...ANTHROPIC,
    models: ['claude-fable-#', 'claude-mythos-#'],
    takes: { system_turns: true },
    source: MID_CONVERSATION,
  },
  {
    ...ANTHROPIC,
    models: CLAUDE,
    below: '3.7',
    takes: { thinking: 'none', efforts: [] },
    source: 'https://docs.claude.com/en/docs/build-with-claude/extended-thinking',
  },
  {
    ...ANTHROPIC,
    models: CLAUDE,
    from: '3.7',
    below: '4.6',
    takes: { thinking: 'budget', efforts: [] },
    source: 'https://docs.claude.com/en/docs/build-with-claude/adaptive-thinking',
  },
  {
    ...ANTHROPIC,
    models: CLAUDE,
    from: '4.1',
    takes: { temperature_with_top_p: false },
    source: 'https://docs.claude.com/en/docs/about-claude/models/migrating-to-claude-4',
  },
  {
    ...ANTHROPIC,
    models: ['claude-opus-#', 'claude-#-opus'],
    from: '4.5',
    takes: { efforts: ['low', 'medium', 'high'] },
    source: 'https://docs.claude.com/en/docs/build-with-claude/effort',
  },
  {
    ...ANTHROPIC,
    models: CLAUDE,
    from: '4.6',
    takes: { thinking: 'any', efforts: ['low', 'medium', 'high', 'max'] },
    source: 'https://docs.claude.com/en/docs/build-with-claude/effort',
  },
  {
    ...ANTHROPIC,
    models: CLAUDE,
    from: '4.6',
    takes: { assistant_last: false },
    source: 'https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-6',
  },
  {
    ...ANTHROPIC,
    models: ['claude-opus-#', 'claude-#-opus'],
    from: '4.7',
    takes: ADAPTIVE_CLAUDE,
    source: 'https://docs.claude.com/en/docs/about-claude/models/migration-guide',
  },
  {
    ...ANTHROPIC,
    models: CLAUDE,
    from: '5',
    takes: ADAPTIVE_CLAUDE,
    source: 'https://docs.claude.com/en/docs/about-claude/models/migration-guide',
  },
  {
    ...ANTHROPIC,
    models: ['claude-fable-#', 'claude-mythos-#', 'claude-mythos-preview'],
    takes: { ...ADAPTIVE_CLAUDE, thinking_off: false },
    source: 'https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking',
  },
  {
    ...ANTHROPIC,
    models: ['claude-fable-#', 'claude-mythos-#'],
    from: '5.1',
    takes: { forced_tool: false },
    source: 'https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5',
  },
  {
    ...ANTHROPIC,
    models: ['claude-opus-#', 'claude-sonnet-#'],
    from: '5.5',
    takes: { thinking_off: false, forced_tool: false },
    source: 'https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5',
  },
  {
    ...GOOGLE,
    takes: { efforts: ['minimal', 'low', 'medium', 'high'] },
    source: 'https://ai.google.dev/gemini-api/docs/thinking',
  },
  {
    ...GOOGLE,
    takes: { consecutive_assistant_turns: false, assistant_first: false, custom_tools: false },
    source: 'https://ai.google.dev/gemini-api/docs/function-calling',
  },
  {
    ...GOOGLE,
    models: ['gemini-#'],
    below: '2.5',
    takes: { thinking: 'none' },
    source: 'https://ai.google.dev/gemini-api/docs/thinking',
  },
  {
    ...GOOGLE,
    models: ['gemini-#'],
    below: '3',
    takes: { tool_result_media: false },
    source: 'https://github.com/google-gemini/gemini-cli/issues/19436',
  },
  {
    ...GOOGLE,
    models: ['gemini-#'],
    below: '3',
    takes: { tools_with_output: false },
    source: 'https://github.com/googleapis/python-genai/issues/867',
  },
  {
    ...GOOGLE,
    models: ['gemini-#'],
    from: '2.5',
    takes: { penalties: false },
    source: 'https://github.com/vercel/ai/issues/8943',
  },
  {
    ...GOOGLE,
    models: ['gemini-#'],
    from: '3',
    takes: { unsigned_call: 'skip_thought_signature_validator' },
    source: 'https://ai.google.dev/gemini-api/docs/thought-signatures',
  },
  {
    ...GOOGLE,
    models: ['gemini-#'],
    from: '2.5',
    below: '3',
    takes: { thinking: 'budget', efforts: [], max_budget: 24_576 },
    source: 'https://ai.google.dev/gemini-api/docs/thinking',
  },
  {
    ...GOOGLE,
    models: ['gemini-#-flash-lite'],
    from: '2.5',
    below: '3',
    takes: { min_budget: 512 },
    source: 'https://ai.google.dev/gemini-api/docs/thinking',
  },
  {
    ...GOOGLE,
    models: ['gemini-#-pro'],
    from: '2.5',
    below: '3',
    takes: { min_budget: 128, max_budget: 32_768, thinking_off: false },
    source: 'https://ai.google.dev/gemini-api/docs/thinking',
  },
  {
    ...GOOGLE,
    models: ['gemini-#'],
    from: '3',
    takes: { efforts: ['low', 'medium', 'high'], thinking_off: false },
    source: 'https://ai.google.dev/gemini-api/docs/gemini-3',
  },
  {
    ...GOOGLE,
    models: ['gemini-#-pro'],
    from: '3',
    below: '3.1',
    takes: { efforts: ['low', 'high'] },
    source: 'https://ai.google.dev/gemini-api/docs/gemini-3',
  },
  {
    ...GOOGLE,
    models: ['gemini-#-flash'],
    from: '3',
    takes: { efforts: ['minimal', 'low', 'medium', 'high'] },
    source: 'https://ai.google.dev/gemini-api/docs/gemini-3',
  },
  {
    vendor: 'google',
    protocols: ['chat'],
    models: ['gemini-#-pro'],
    from: '2.5',
    takes: { efforts: ['minimal', 'low', 'medium', 'high'], thinking_off: false },
    source: 'https://ai.google.dev/gemini-api/docs/openai',
  },
  {
    vendor: 'google',
    protocols: ['chat'],
    models: ['gemini-#'],
    from: '3',
    takes: { efforts: ['minimal', 'low', 'medium', 'high'], thinking_off: false },
    source: 'https://ai.google.dev/gemini-api/docs/openai',
  },
  ...OPEN_MODELS,
];
