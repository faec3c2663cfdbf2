import { kinds, list, object } from '../../canonical/unread-members.ts';

const CACHED = { cache_control: object('type ttl') };

const CITATION = kinds('type', {
  web_search_result_location: object('type url title cited_text encrypted_index'),
  search_result_location: object('type source title cited_text'),
});

const SOURCE = kinds('type', {
  base64: object('type media_type data'),
  url: object('type url'),
  text: object('type media_type data'),
  content: object('type', { content: list(object('type text')) }),
});

const SEARCH_RESULT = object('type title source citations', {
  content: list(object('type text')),
  ...CACHED,
});

const shared = {
  text: object('type text', { citations: list(CITATION), ...CACHED }),
  image: object('type', { source: SOURCE, ...CACHED }),
  document: object('type title context citations', { source: SOURCE, ...CACHED }),
  search_result: SEARCH_RESULT,
};

const CONTENT = list(
  kinds('type', {
    ...shared,
    tool_use: object('type id name input cache_control'),
    tool_result: object('type tool_use_id is_error', {
      content: list(kinds('type', shared)),
      ...CACHED,
    }),
    thinking: object('type thinking signature'),
    redacted_thinking: object('type data'),
  }),
);

const CUSTOM = object('type name description input_schema strict', CACHED);

/** Shape of a request's members that are read here or reported elsewhere. */
export const MESSAGES_REQUEST = object(
  'model stream max_tokens temperature top_p top_k stop_sequences service_tier',
  {
    messages: list(object('role', { content: CONTENT })),
    system: CONTENT,
    tools: list(kinds('type', { custom: CUSTOM }, CUSTOM)),
    tool_choice: object('type name disable_parallel_tool_use'),
    thinking: object('type budget_tokens display'),
    output_config: object('effort', { format: object('type schema') }),
    metadata: object('user_id'),
  },
);
