import { kinds, list, object } from '../../canonical/unread-members.ts';

const TEXT = object('type text');
const CITATION = object('type url title start_index end_index');
const CONTENT = list(
  kinds('type', {
    input_text: TEXT,
    text: TEXT,
    // Log probabilities of an answer mean nothing to the model that continues it.
    output_text: object('type text logprobs', {
      annotations: list(kinds('type', { url_citation: CITATION })),
    }),
    refusal: object('type refusal'),
    input_image: object('type image_url detail file_id'),
    input_file: object('type filename file_url file_data file_id'),
  }),
);

/** `id` and `status` are those of a provider's own record of the item. */
const item = (names: string, members = {}) => object(`type id status ${names}`, members);
const MESSAGE = item('role', { content: CONTENT });
const OUTPUT = item('call_id', { output: CONTENT });
const THOUGHTS = list(object('type text'));

const ITEM = kinds(
  'type',
  {
    message: MESSAGE,
    function_call: item('call_id name arguments'),
    custom_tool_call: item('call_id name input'),
    function_call_output: OUTPUT,
    custom_tool_call_output: OUTPUT,
    reasoning: item('encrypted_content', { summary: THOUGHTS, content: THOUGHTS }),
  },
  MESSAGE,
);

const TOOL = kinds('type', {
  function: object('type name description parameters strict'),
  custom: object('type name description', { format: object('type syntax definition') }),
});

const CHOICE = object('type name');

/**
 * Shape of a Responses request: members that are read, or that mean nothing to another protocol.
 */
export const RESPONSES_REQUEST = object(
  'model stream instructions parallel_tool_calls max_output_tokens temperature top_p top_logprobs' +
    ' metadata user safety_identifier service_tier include',
  {
    stream_options: object(''),
    input: list(ITEM),
    tools: list(TOOL),
    tool_choice: kinds('type', { function: CHOICE, custom: CHOICE }),
    reasoning: object('effort summary generate_summary'),
    text: object('verbosity', { format: object('type name description schema strict') }),
  },
);
