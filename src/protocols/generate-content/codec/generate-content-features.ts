import type { FeatureFields } from '../../features.ts';

/** What generate-content can say (contract: Generate-content protocol). */
export const GENERATE_CONTENT_FEATURES: FeatureFields = {
  audio: 'inlineData',
  builtin_tools: 'tools',
  citations: 'groundingMetadata',
  documents: 'inlineData',
  document_urls: 'fileData',
  frequency_penalty: 'generationConfig.frequencyPenalty',
  image_urls: 'fileData',
  images: 'inlineData',
  json_output: 'generationConfig.responseMimeType',
  logprobs: 'generationConfig.logprobs',
  presence_penalty: 'generationConfig.presencePenalty',
  reasoning: 'generationConfig.thinkingConfig',
  reasoning_signatures: 'thoughtSignature',
  reasoning_text: 'thought',
  schema_output: 'generationConfig.responseJsonSchema',
  seed: 'generationConfig.seed',
  stop_sequences: 'generationConfig.stopSequences',
  temperature_above_1: 'generationConfig.temperature',
  tool_choice: 'toolConfig',
  tool_result_errors: 'functionResponse.response.error',
  tool_result_images: 'functionResponse.parts',
  top_k: 'generationConfig.topK',
};
