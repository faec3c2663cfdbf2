import type { FeatureFields } from '../../features.ts';

/** By which of its fields the protocol says each feature. */
export const MESSAGES_FEATURES: FeatureFields = {
  builtin_tools: 'tools',
  cache_control: 'messages.content.cache_control',
  citations: 'messages.content.citations',
  documents: 'messages.content.document',
  document_urls: 'messages.content.document.source.url',
  image_urls: 'messages.content.image.source.url',
  images: 'messages.content.image',
  max_tokens: 'max_tokens',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  reasoning: 'thinking',
  reasoning_signatures: 'messages.content.thinking.signature',
  reasoning_text: 'messages.content.thinking',
  schema_output: 'output_config.format',
  service_tier: 'service_tier',
  stop_sequences: 'stop_sequences',
  strict_tools: 'tools.strict',
  temperature: 'temperature',
  tool_cache_control: 'tools.cache_control',
  tool_choice: 'tool_choice',
  tool_result_errors: 'messages.content.tool_result.is_error',
  tool_result_images: 'messages.content.tool_result.content.image',
  top_k: 'top_k',
  top_p: 'top_p',
  user: 'metadata.user_id',
};
