/**
 * Features that requests can ask for and answers can hold, besides plain text, system texts,
 * function tools and their results, `max tokens`, `temperature` and `top p`, which every protocol
 * can express. Each codec names the field by which its protocol expresses a feature; a feature that
 * only one side can express is lost between the two (contract: Chat completions, Messages;
 * requirement routing.translation.pairs).
 */
export type Feature =
  | 'audio'
  | 'builtin_tools'
  | 'cache_control'
  | 'choices'
  | 'citations'
  | 'documents'
  | 'document_names'
  | 'document_urls'
  | 'frequency_penalty'
  | 'image_detail'
  | 'image_urls'
  | 'images'
  | 'json_output'
  | 'logprobs'
  | 'max_tokens'
  | 'metadata'
  | 'parallel_tool_calls'
  | 'participant_names'
  | 'presence_penalty'
  | 'reasoning'
  | 'reasoning_shown'
  | 'reasoning_signatures'
  | 'reasoning_text'
  | 'refusals'
  | 'schema_bounds'
  | 'schema_description'
  | 'schema_name'
  | 'schema_output'
  | 'seed'
  | 'service_tier'
  | 'stop_sequences'
  | 'strict_tools'
  | 'temperature'
  | 'temperature_above_1'
  | 'tool_arguments'
  | 'tool_cache_control'
  | 'tool_choice'
  | 'tool_grammars'
  | 'tool_result_errors'
  | 'tool_result_images'
  | 'top_k'
  | 'top_p'
  | 'user'
  | 'verbosity';

/** The field by which a protocol expresses each feature that it has, as its clients write it. */
export type FeatureFields = Readonly<Partial<Record<Feature, string>>>;
