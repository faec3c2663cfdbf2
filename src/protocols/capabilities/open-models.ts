/** A template writes the prompt, and refuses or drops a system text that is not the first message. */
export const CHAT_TEMPLATE = { system_turns: false } as const;

/** The user and the assistant take turns, and the user begins. */
const ALTERNATING = {
  ...CHAT_TEMPLATE,
  consecutive_user_turns: false,
  assistant_first: false,
} as const;

/** Mistral's validator, which its API and servers of its models share, and its templates. */
export const MISTRAL = {
  ...ALTERNATING,
  exact_tool_id_length: 9,
  user_after_tool: false,
  assistant_last: false,
} as const;

/** The APIs of vendors that refuse other members than their own, also of models of others. */
export const MISTRAL_API = {
  vendor: 'mistral',
  takes: {
    ...MISTRAL,
    efforts: ['none', 'high'],
    max_temperature: 1.5,
    min_seed: 0,
    custom_tools: false,
    document_types: [],
    unknown_members: [
      'logprobs',
      'participant_names',
      'reasoning_text',
      'refusals',
      'service_tier',
      'user',
      'verbosity',
    ],
  },
  source: 'https://docs.mistral.ai/api',
} as const;

export const GROQ_API = {
  vendor: 'groq',
  takes: { unknown_members: ['reasoning_text'] },
  source: 'https://console.groq.com/docs/reasoning',
} as const;

export const COHERE_API = {
  vendor: 'cohere',
  takes: {
    efforts: ['none', 'high'],
    custom_tools: false,
    unknown_members: ['logprobs', 'parallel_tool_calls', 'service_tier', 'user', 'verbosity'],
  },
  source: 'https://docs.cohere.com/docs/compatibility-api',
} as const;

/** A model that thinks wants the thoughts of each of its calls back. */
const NEEDS_REASONING = { unreasoned_call: '.' } as const;

/** Models that many servers and clouds run, by the templates and validators that go with them. */
export const OPEN_MODELS = [
  {
    vendor: 'mistral',
    models: [
      'mistral',
      'mistralai',
      'mixtral',
      'ministral',
      'magistral',
      'devstral',
      'codestral',
      'pixtral',
      'voxtral',
      'mathstral',
    ],
    takes: MISTRAL,
    source:
      'https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py',
  },
  {
    vendor: 'deepseek',
    protocols: ['chat'],
    models: ['deepseek-v#'],
    from: '4',
    takes: NEEDS_REASONING,
    source: 'https://api-docs.deepseek.com/guides/thinking_mode',
  },
  {
    vendor: 'deepseek',
    protocols: ['chat'],
    models: ['deepseek-reasoner'],
    takes: NEEDS_REASONING,
    source: 'https://api-docs.deepseek.com/guides/thinking_mode',
  },
  {
    vendor: 'moonshot',
    protocols: ['chat'],
    models: ['kimi-k#'],
    from: '2.5',
    takes: NEEDS_REASONING,
    source: 'https://github.com/anomalyco/opencode/issues/10996',
  },
  {
    vendor: 'moonshot',
    protocols: ['chat'],
    models: ['kimi-k#-thinking'],
    takes: NEEDS_REASONING,
    source: 'https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model',
  },
  {
    vendor: 'deepseek',
    providers: ['deepseek'],
    models: ['deepseek-v#'],
    from: '4',
    takes: { forced_tool: false },
    source: 'https://github.com/tickernelz/opencode-mem/issues/253',
  },
  {
    vendor: 'moonshot',
    protocols: ['chat'],
    models: ['kimi-k#'],
    from: '2.5',
    takes: { sampling: false },
    source: 'https://github.com/HKUDS/nanobot/pull/4967',
  },
  {
    vendor: 'qwen',
    protocols: ['chat'],
    models: ['qwen#-max', 'qwen#-plus', 'qwen#-flash'],
    from: '3.5',
    takes: { forced_tool: false },
    source: 'https://github.com/QwenLM/qwen-code/issues/7659',
  },
  {
    vendor: 'qwen',
    models: ['qwen#', 'qwen-#'],
    from: '3.5',
    takes: CHAT_TEMPLATE,
    source: 'https://huggingface.co/Qwen/Qwen3.5-27B/blob/main/chat_template.jinja',
  },
  {
    vendor: 'openai',
    models: ['gpt-oss'],
    takes: CHAT_TEMPLATE,
    source: 'https://huggingface.co/openai/gpt-oss-120b/blob/main/chat_template.jinja',
  },
  {
    vendor: 'google',
    models: ['gemma', '*gemma', 'gemma#'],
    takes: ALTERNATING,
    source: 'https://huggingface.co/google/gemma-3-27b-it/blob/main/chat_template.jinja',
  },
  {
    vendor: 'google',
    models: ['gemma#', 'gemma-#', 'gemma-7b', 'medgemma', 'codegemma', 'shieldgemma'],
    below: '4',
    takes: { system_texts: false },
    source: 'https://ai.google.dev/gemma/docs/core/prompt-structure',
  },
] as const;
