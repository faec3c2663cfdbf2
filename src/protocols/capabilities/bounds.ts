const OPENAI = { vendor: 'openai', protocols: ['chat', 'responses'] } as const;
const ANTHROPIC = { vendor: 'anthropic', protocols: ['messages'] } as const;
const GOOGLE = { vendor: 'google', protocols: ['generate-content'] } as const;
const OPENAI_SCHEMA = 'https://github.com/openai/openai-openapi/blob/main/openapi.json';

/** Lengths, counts and ranges of members, as the schemas and references of vendors state them. */
export const BOUNDS = [
  {
    ...OPENAI,
    takes: { name_length: 64, name_marks: '_-' },
    source: `${OPENAI_SCHEMA}#/components/schemas/FunctionObject`,
  },
  {
    ...OPENAI,
    models: ['gpt-#', 'chatgpt-#', 'o#'],
    takes: { max_tools: 128, max_stops: 4 },
    source: `${OPENAI_SCHEMA}#/components/schemas/CreateChatCompletionRequest`,
  },
  {
    ...OPENAI,
    protocols: ['chat'],
    models: ['gpt-#', 'chatgpt-#', 'o#'],
    takes: { unknown_members: ['reasoning_text'] },
    source: `${OPENAI_SCHEMA}#/components/schemas/ChatCompletionRequestAssistantMessage`,
  },
  {
    ...OPENAI,
    models: ['o#'],
    takes: { max_stops: 0 },
    source: `${OPENAI_SCHEMA}#/components/schemas/StopConfiguration`,
  },
  {
    ...OPENAI,
    models: ['gpt-#'],
    from: '5',
    takes: { max_stops: 0 },
    source: 'https://github.com/huggingface/smolagents/issues/1671',
  },
  {
    ...OPENAI,
    models: ['gpt-#-chat'],
    takes: { max_stops: 4 },
    source: `${OPENAI_SCHEMA}#/components/schemas/StopConfiguration`,
  },
  {
    ...ANTHROPIC,
    takes: { name_length: 128, name_marks: '_-' },
    source: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools',
  },
  {
    ...ANTHROPIC,
    takes: { user_length: 256 },
    source: 'https://docs.claude.com/en/api/messages',
  },
  {
    ...GOOGLE,
    takes: { name_length: 128, name_marks: '_.:-', name_any_start: false },
    source: 'https://ai.google.dev/api/caching#FunctionDeclaration',
  },
  {
    ...GOOGLE,
    takes: { max_stops: 5, max_seed: 2_147_483_647 },
    source: 'https://ai.google.dev/api/generate-content#generationconfig',
  },
] as const;
