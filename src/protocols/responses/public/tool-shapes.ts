import { FREE, TEXTS, either, list, object, union } from './shape.ts';

const CALLERS = { allowed_callers: TEXTS };

const FUNCTION = object('name strict async defer_loading description', {
  ...CALLERS,
  parameters: FREE,
  output_schema: FREE,
});

const CUSTOM = object('name async defer_loading description', {
  ...CALLERS,
  format: union({ text: object(''), grammar: object('definition syntax') }),
});

const LOCATION = object('type city country region timezone');
const WEB_SEARCH = object('external_web_access search_context_size', {
  filters: object('', { allowed_domains: TEXTS }),
  user_location: LOCATION,
});
const WEB_SEARCH_PREVIEW = object('search_context_size', {
  search_content_types: TEXTS,
  user_location: LOCATION,
});

const NETWORK_POLICY = union({
  disabled: object(''),
  allowlist: object('', {
    allowed_domains: TEXTS,
    domain_secrets: list(object('domain name value')),
  }),
});

const CONTAINER_SKILL = union({
  skill_reference: object('skill_id version'),
  inline: object('description name', { source: object('data media_type type') }),
});

const SHELL_ENVIRONMENT = union({
  local: object('', { skills: list(object('description name path')) }),
  container_auto: object('memory_limit', {
    file_ids: TEXTS,
    network_policy: NETWORK_POLICY,
    skills: list(CONTAINER_SKILL),
  }),
  container_reference: object('container_id'),
});

const MCP_FILTER = object('read_only', { tool_names: TEXTS });

/** A tool as the answer repeats it. */
export const TOOL = union({
  function: FUNCTION,
  custom: CUSTOM,
  namespace: object('description name', {
    tools: list(union({ function: FUNCTION, custom: CUSTOM })),
  }),
  file_search: object('max_num_results', {
    vector_store_ids: TEXTS,
    filters: object('type key value', { value: TEXTS, filters: FREE }),
    ranking_options: object('ranker score_threshold', {
      hybrid_search: object('embedding_weight text_weight'),
    }),
  }),
  computer: object(''),
  computer_use_preview: object('display_height display_width environment'),
  web_search: WEB_SEARCH,
  web_search_2025_08_26: WEB_SEARCH,
  web_search_preview: WEB_SEARCH_PREVIEW,
  web_search_preview_2025_03_11: WEB_SEARCH_PREVIEW,
  mcp: object(
    'server_label authorization connector_id defer_loading server_description server_url tunnel_id',
    {
      ...CALLERS,
      allowed_tools: either(TEXTS, MCP_FILTER),
      headers: FREE,
      require_approval: object('', { always: MCP_FILTER, never: MCP_FILTER }),
    },
  ),
  code_interpreter: object('', {
    ...CALLERS,
    container: object('type memory_limit', { file_ids: TEXTS, network_policy: NETWORK_POLICY }),
  }),
  programmatic_tool_calling: object(''),
  image_generation: object(
    'action background complexity frame_count frame_duration_ms input_fidelity model moderation output_compression output_format partial_images quality size',
    {
      input_image_mask: object('file_id image_url'),
      svg: object('model', { reasoning: object('effort') }),
    },
  ),
  local_shell: object(''),
  shell: object('', { ...CALLERS, environment: SHELL_ENVIRONMENT }),
  tool_search: object('description execution', { parameters: FREE }),
  apply_patch: object('', CALLERS),
});

/** A choice other than a word. Which of the user's tools are allowed is the user's own. */
export const TOOL_CHOICE = object('type mode name server_label', { tools: FREE });
