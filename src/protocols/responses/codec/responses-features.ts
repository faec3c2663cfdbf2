import type { FeatureFields } from '../../features.ts';

/** By which of its fields the protocol says each feature. */
export const RESPONSES_FEATURES: FeatureFields = {
  builtin_tools: 'tools',
  citations: 'output_text.annotations',
  documents: 'input_file',
  document_urls: 'input_file.file_url',
  image_detail: 'input_image.detail',
  image_urls: 'input_image.image_url',
  images: 'input_image',
  json_output: 'text.format',
  logprobs: 'top_logprobs',
  metadata: 'metadata',
  parallel_tool_calls: 'parallel_tool_calls',
  reasoning: 'reasoning',
  reasoning_signatures: 'reasoning.encrypted_content',
  reasoning_text: 'reasoning.summary',
  refusals: 'refusal',
  schema_output: 'text.format',
  service_tier: 'service_tier',
  strict_tools: 'tools.strict',
  temperature_above_1: 'temperature',
  tool_choice: 'tool_choice',
  tool_result_images: 'function_call_output.output',
  user: 'user',
  verbosity: 'text.verbosity',
};
