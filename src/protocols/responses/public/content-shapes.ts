import { FREE, TEXTS, list, map, object, union } from './shape.ts';

const CACHE = { prompt_cache_breakpoint: object('mode ttl') };

/** Sources of a text. */
export const ANNOTATIONS = union({
  file_citation: object('file_id filename index'),
  url_citation: object('end_index start_index title url'),
  container_file_citation: object('container_id end_index file_id filename start_index'),
  file_path: object('file_id index'),
});

export const LOGPROBS = list(
  object('token logprob', {
    bytes: TEXTS,
    top_logprobs: list(object('token logprob', { bytes: TEXTS })),
  }),
);

const INPUT_PARTS = {
  input_text: object('text', CACHE),
  input_image: object('detail file_id image_url', CACHE),
  input_file: object('detail file_data file_id file_url filename', CACHE),
};

/** Content of messages of users and tools. */
export const INPUT_CONTENT = union(INPUT_PARTS);

/** Content of a message of anyone. */
export const MESSAGE_CONTENT = union({
  ...INPUT_PARTS,
  output_text: object('text', { annotations: list(ANNOTATIONS), logprobs: LOGPROBS }),
  refusal: object('refusal'),
});

/** Content of an output item, as stream events announce it. */
export const OUTPUT_PART = union({
  output_text: object('text', { annotations: list(ANNOTATIONS), logprobs: LOGPROBS }),
  refusal: object('refusal'),
  reasoning_text: object('text'),
});

/** A prompt template and what fills it. */
export const PROMPT = object('id version', { variables: map(INPUT_CONTENT) });

/** Form in which the model answers. */
export const TEXT_FORMAT = union({
  text: object(''),
  json_object: object(''),
  json_schema: object('name description strict', { schema: FREE }),
});
