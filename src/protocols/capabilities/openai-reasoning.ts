const OPENAI = { vendor: 'openai', protocols: ['chat', 'responses'] } as const;

/** Models that always reason and take no sampling. */
const ALWAYS_REASONS = { thinking_off: false, sampling: false } as const;

/** Reasoning of OpenAI's models, from the general to the particular. */
export const OPENAI_REASONING = [
  {
    ...OPENAI,
    models: ['gpt-#', 'chatgpt-#'],
    below: '5',
    takes: { thinking: 'none' },
    source: 'https://platform.openai.com/docs/guides/reasoning',
  },
  {
    ...OPENAI,
    models: ['o#'],
    takes: { ...ALWAYS_REASONS, efforts: ['low', 'medium', 'high'] },
    source: 'https://platform.openai.com/docs/guides/reasoning',
  },
  {
    ...OPENAI,
    models: ['gpt-#'],
    from: '5',
    below: '5.1',
    takes: { ...ALWAYS_REASONS, efforts: ['minimal', 'low', 'medium', 'high'] },
    source: 'https://platform.openai.com/docs/guides/latest-model',
  },
  {
    ...OPENAI,
    models: ['gpt-#'],
    from: '5.1',
    takes: { efforts: ['none', 'low', 'medium', 'high'], sampling_with_thinking: false },
    source: 'https://platform.openai.com/docs/guides/latest-model',
  },
  {
    ...OPENAI,
    models: ['gpt-#'],
    from: '5.2',
    takes: { efforts: ['none', 'low', 'medium', 'high', 'xhigh'] },
    source: 'https://platform.openai.com/docs/guides/latest-model',
  },
  {
    ...OPENAI,
    models: ['gpt-#'],
    from: '5.5',
    takes: { thinking_unasked: true },
    source: 'https://developers.openai.com/api/docs/guides/reasoning',
  },
  {
    ...OPENAI,
    models: ['gpt-#'],
    from: '5.6',
    takes: { efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] },
    source: 'https://developers.openai.com/api/docs/models/gpt-5.6-sol',
  },
  {
    ...OPENAI,
    models: ['gpt-#-astra'],
    takes: { efforts: ['low', 'medium', 'high', 'xhigh', 'max'], thinking_off: false },
    source: 'https://developers.openai.com/api/docs/models/gpt-6-astra',
  },
  {
    ...OPENAI,
    models: ['gpt-#-sol'],
    from: '6.1',
    takes: { efforts: ['low', 'medium', 'high', 'xhigh', 'max'], thinking_off: false },
    source: 'https://developers.openai.com/api/docs/guides/latest-model?model=gpt-6.1-sol',
  },
  {
    ...OPENAI,
    protocols: ['chat'],
    models: ['gpt-#-sol'],
    from: '6.1',
    takes: { efforts: ['low', 'medium', 'high', 'xhigh'] },
    source: 'https://docs.laozhang.ai/en/announcements/gpt-6-chat-tools-2026-11',
  },
  {
    vendor: 'openai',
    providers: ['openai', 'azure-openai'],
    models: ['gpt-#'],
    from: '5.4',
    takes: { tools_with_reasoning: 'responses' },
    source: 'https://github.com/openai/openai-openapi/issues/541',
  },
  {
    ...OPENAI,
    models: ['gpt-#-codex'],
    takes: { ...ALWAYS_REASONS, efforts: ['low', 'medium', 'high'] },
    source: 'https://platform.openai.com/docs/models/gpt-5-codex',
  },
  {
    ...OPENAI,
    models: ['gpt-#-codex-max'],
    takes: { efforts: ['low', 'medium', 'high', 'xhigh'] },
    source: 'https://platform.openai.com/docs/models/gpt-5.1-codex-max',
  },
  {
    ...OPENAI,
    models: ['gpt-#-codex'],
    from: '5.2',
    takes: { efforts: ['low', 'medium', 'high', 'xhigh'] },
    source: 'https://platform.openai.com/docs/models/gpt-5.2-codex',
  },
  {
    ...OPENAI,
    models: ['gpt-#-pro'],
    takes: { ...ALWAYS_REASONS, efforts: ['high'] },
    source: 'https://platform.openai.com/docs/models/gpt-5-pro',
  },
  {
    ...OPENAI,
    models: ['gpt-#-pro'],
    from: '5.2',
    takes: { efforts: ['medium', 'high', 'xhigh'] },
    source: 'https://platform.openai.com/docs/models/gpt-5.2-pro',
  },
  {
    ...OPENAI,
    models: ['gpt-#-chat'],
    takes: {
      thinking: 'none',
      thinking_off: true,
      thinking_unasked: false,
      sampling: true,
    },
    source: 'https://platform.openai.com/docs/models/gpt-5-chat-latest',
  },
] as const;
