import { PROMPT, TEXT_FORMAT } from './content-shapes.ts';
import { INPUT_ITEM, OUTPUT_ITEM } from './item-shapes.ts';
import { FREE, list, object, slot, union } from './shape.ts';
import { TOOL, TOOL_CHOICE } from './tool-shapes.ts';

const MODERATION = union({
  moderation_result: object('flagged model', {
    categories: FREE,
    category_applied_input_types: FREE,
    category_scores: FREE,
  }),
  error: object('code message'),
});

const USAGE = object('input_tokens output_tokens total_tokens', {
  input_tokens_details: object('cached_tokens cache_write_tokens', {
    cache_write_tokens_details: object('ttl_12h_tokens ttl_30m_tokens'),
  }),
  output_tokens_details: object('reasoning_tokens'),
});

const TOOL_USAGE = object('', {
  image_gen: object('input_tokens output_tokens total_tokens cached_tokens', {
    input_tokens_details: object('image_tokens text_tokens'),
    cached_tokens_details: object('cached_image_tokens cached_text_tokens'),
    output_tokens_details: object('image_tokens text_tokens'),
  }),
  web_search: object('num_requests'),
});

const ERROR = object('code param type', {
  message: slot('error.message'),
  misalignment: object('detailed_explanation error_type review_target', {
    steer: object('message'),
  }),
});

/**
 * The public members of a Response that was asked to be compacted, of a page of items and of the other answers
 * of the family, from the types of the official client (openai 7.55).
 */
export const FAMILY_SHAPES = {
  'response.compaction': object('id created_at object', {
    output: list(OUTPUT_ITEM),
    image: object('context_compression'),
    usage: USAGE,
  }),
  'response.input_tokens': object('input_tokens object'),
  list: object('object first_id last_id has_more', { data: list(INPUT_ITEM) }),
  deleted: object('id object deleted'),
};

/**
 * The public members of a Response, from the type `Response` of the official client (openai 7.59 and
 * 6.49) and `store`, which the published examples repeat (requirement responses.response.public-only).
 * Slots: `model`, `error.message`.
 */
export const RESPONSE = object(
  'id output_text created_at object parallel_tool_calls temperature top_p background completed_at max_output_tokens max_tool_calls previous_response_id prompt_cache_key prompt_cache_retention safety_identifier service_tier status store top_logprobs truncation user',
  {
    model: slot('model'),
    access_programs: object('cyber'),
    error: ERROR,
    incomplete_details: object('reason'),
    input_transformations: list(object('id action reason type')),
    instructions: list(INPUT_ITEM),
    metadata: FREE,
    output: list(OUTPUT_ITEM),
    tool_choice: TOOL_CHOICE,
    tools: list(TOOL),
    conversation: object('id'),
    image: object('context_compression'),
    moderation: object('', { input: MODERATION, output: MODERATION }),
    prompt: PROMPT,
    prompt_cache_diagnostics: object('type cache_missed_tokens reason comparison_reusable_tokens'),
    prompt_cache_options: object('mode ttl comparison_response_id'),
    reasoning: object('context effort generate_summary mode summary'),
    text: object('verbosity', { format: TEXT_FORMAT }),
    tool_usage: TOOL_USAGE,
    usage: USAGE,
  },
);
