import { kinds, list, object } from '../../canonical/unread-members.ts';

const CACHED = { cache_control: object('type ttl') };

const CONTENT = list(
  kinds('type', {
    text: object('type text', CACHED),
    refusal: object('type refusal'),
    image_url: object('type', { image_url: object('url detail'), ...CACHED }),
    file: object('type', { file: object('file_data filename file_id'), ...CACHED }),
    input_audio: object('type', { input_audio: object('data format') }),
  }),
);

/** `index` only numbers what a stream brought in pieces. */
const FUNCTION_CALL = object('type id index', { function: object('name arguments') });
const CALL = kinds(
  'type',
  { function: FUNCTION_CALL, custom: object('type id index', { custom: object('name input') }) },
  FUNCTION_CALL,
);

const TEXTS = object('role name', { content: CONTENT });
const RESULT = object('role name tool_call_id', { content: CONTENT });
const MESSAGE = kinds('role', {
  system: TEXTS,
  developer: TEXTS,
  user: TEXTS,
  assistant: object('role name refusal audio reasoning reasoning_content reasoning_details', {
    content: CONTENT,
    tool_calls: list(CALL),
    function_call: object('name arguments'),
    annotations: list(object('type', { url_citation: object('url title start_index end_index') })),
  }),
  tool: RESULT,
  function: RESULT,
});

const FUNCTION = object('name description parameters strict');
const FUNCTION_TOOL = object('type', { function: FUNCTION, ...CACHED });
const GRAMMAR = object('syntax definition');
const TOOL = kinds(
  'type',
  {
    function: FUNCTION_TOOL,
    custom: object('type', {
      custom: object('name description', { format: object('type', { grammar: GRAMMAR }) }),
      ...CACHED,
    }),
  },
  FUNCTION_TOOL,
);

/** Shape of a chat request: members that are read, or that mean nothing to another protocol. */
export const CHAT_REQUEST = object(
  'model stream stop metadata parallel_tool_calls max_completion_tokens max_tokens temperature top_p' +
    ' top_k seed presence_penalty frequency_penalty reasoning_effort verbosity logprobs top_logprobs' +
    ' user safety_identifier service_tier',
  {
    stream_options: object('include_usage'),
    messages: list(MESSAGE),
    functions: list(FUNCTION),
    function_call: object('name'),
    tools: list(TOOL),
    tool_choice: object('type name allowed_tools', {
      function: object('name'),
      custom: object('name'),
    }),
    reasoning: object('effort max_tokens exclude enabled'),
    response_format: object('type', { json_schema: object('name description schema strict') }),
  },
);
