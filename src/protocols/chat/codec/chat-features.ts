import type { FeatureFields } from '../../features.ts';

/** Features that chat completions can express (contract: Chat completions). */
export const CHAT_FEATURES: FeatureFields = {
  audio: 'input_audio',
  builtin_tools: 'tools',
  choices: 'n',
  citations: 'annotations',
  documents: 'file',
  document_names: 'file.filename',
  frequency_penalty: 'frequency_penalty',
  image_detail: 'image_url.detail',
  image_urls: 'image_url',
  images: 'image_url',
  json_output: 'response_format',
  logprobs: 'logprobs',
  max_tokens: 'max_completion_tokens',
  parallel_tool_calls: 'parallel_tool_calls',
  participant_names: 'name',
  presence_penalty: 'presence_penalty',
  reasoning: 'reasoning_effort',
  reasoning_signatures: 'reasoning_details',
  reasoning_text: 'reasoning_content',
  refusals: 'refusal',
  schema_bounds: 'response_format.json_schema.schema',
  schema_description: 'response_format.json_schema.description',
  schema_name: 'response_format.json_schema.name',
  schema_output: 'response_format',
  seed: 'seed',
  service_tier: 'service_tier',
  stop_sequences: 'stop',
  strict_tools: 'strict',
  temperature: 'temperature',
  temperature_above_1: 'temperature',
  tool_choice: 'tool_choice',
  tool_grammars: 'tools.custom.format',
  top_p: 'top_p',
  user: 'user',
  verbosity: 'verbosity',
};

/**
 * Features that clients may ask for although no provider is asked so: only aggregators speak
 * `cache_control`, `top_k` and `reasoning`, and `metadata` is refused where nothing is stored.
 */
export const CHAT_ALSO_READS: FeatureFields = {
  cache_control: 'cache_control',
  tool_cache_control: 'tools.cache_control',
  metadata: 'metadata',
  reasoning_shown: 'reasoning.exclude',
  top_k: 'top_k',
};
