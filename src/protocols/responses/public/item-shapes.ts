import {
  ANNOTATIONS,
  INPUT_CONTENT,
  MESSAGE_CONTENT,
  OUTPUT_PART,
  TEXT_FORMAT,
} from './content-shapes.ts';
import { FREE, TEXTS, list, object, union } from './shape.ts';
import { TOOL } from './tool-shapes.ts';

const CALLER = { caller: object('type caller_id') };
const CALL = 'id call_id status created_by';
const TOOL_OUTPUT = list(INPUT_CONTENT);
const SAFETY_CHECKS = list(object('id code message'));

const COMPUTER_ACTION = object('type x y button scroll_x scroll_y text', {
  keys: TEXTS,
  path: list(object('x y')),
});

const MESSAGE = object('id role status phase', { content: list(MESSAGE_CONTENT) });

const SHELL_OUTPUT = list(
  object('stderr stdout created_by', { outcome: object('type exit_code') }),
);

const MCP_KINDS = {
  mcp_call: object('id arguments name server_label approval_request_id output status', {
    error: union({
      mcp_protocol_error: object('code message'),
      mcp_tool_execution_error: object('', { content: FREE }),
      http_error: object('code message'),
    }),
  }),
  mcp_list_tools: object('id server_label error', {
    tools: list(object('name description', { input_schema: FREE, annotations: FREE })),
  }),
  mcp_approval_request: object('id arguments name server_label'),
  mcp_approval_response: object('id approval_request_id approve reason'),
};

const SHELL_KINDS = {
  local_shell_call: object('id call_id status', {
    action: object('type timeout_ms user working_directory', { command: TEXTS, env: FREE }),
  }),
  local_shell_call_output: object('id output status'),
  shell_call: object(CALL, {
    ...CALLER,
    action: object('max_output_length timeout_ms', { commands: TEXTS }),
    environment: object('type container_id', {
      skills: list(object('description name path')),
    }),
  }),
  shell_call_output: object(`${CALL} max_output_length`, { ...CALLER, output: SHELL_OUTPUT }),
  apply_patch_call: object(CALL, { ...CALLER, operation: object('type diff path') }),
  apply_patch_call_output: object(`${CALL} output`, CALLER),
};

const HOSTED_KINDS = {
  file_search_call: object('id status', {
    queries: TEXTS,
    results: list(object('file_id filename score text', { attributes: FREE })),
  }),
  web_search_call: object('id status', {
    action: object('type query url pattern', {
      queries: TEXTS,
      sources: list(object('type url')),
    }),
  }),
  computer_call: object('id call_id status', {
    pending_safety_checks: SAFETY_CHECKS,
    action: COMPUTER_ACTION,
    actions: list(COMPUTER_ACTION),
  }),
  computer_call_output: object(CALL, {
    output: object('type file_id image_url'),
    acknowledged_safety_checks: SAFETY_CHECKS,
  }),
  code_interpreter_call: object('id code container_id status', {
    outputs: list(union({ logs: object('logs'), image: object('url') })),
  }),
  image_generation_call: object(
    'id result status action background output_format quality revised_prompt size',
    {
      error: object('code message param type', {
        moderation_details: object('moderation_stage', { categories: TEXTS }),
      }),
      svg_usage: object('input_tokens model output_tokens reasoning_tokens total_tokens'),
    },
  ),
  program: object('id call_id code fingerprint'),
  program_output: object('id call_id result status'),
  tool_search_call: object(`${CALL} execution`, { arguments: FREE }),
  tool_search_output: object(`${CALL} execution`, { tools: list(TOOL) }),
  additional_tools: object('id role', { tools: list(TOOL) }),
  compaction: object('id encrypted_content created_by'),
  // Another name for it, which Codex reads.
  compaction_summary: object('id encrypted_content created_by'),
};

const OUTPUT_KINDS = {
  message: MESSAGE,
  reasoning: object('id encrypted_content status', {
    summary: list(union({ summary_text: object('text') })),
    content: list(union({ reasoning_text: object('text') })),
  }),
  function_call: object(`${CALL} arguments name async namespace`, CALLER),
  function_call_output: object(`${CALL} name namespace`, { ...CALLER, output: TOOL_OUTPUT }),
  custom_tool_call: object(`${CALL} input name async namespace`, CALLER),
  custom_tool_call_output: object(CALL, { ...CALLER, output: TOOL_OUTPUT }),
  ...HOSTED_KINDS,
  ...SHELL_KINDS,
  ...MCP_KINDS,
};

/** Items that a model puts out. An item of another kind is private as a whole. */
export const OUTPUT_ITEM = union(OUTPUT_KINDS);

/** Items of a conversation, as `instructions` repeats it. */
export const INPUT_ITEM = union(
  {
    ...OUTPUT_KINDS,
    item_reference: object('id'),
    compaction_trigger: object('id'),
    configuration_update: object('id', {
      reasoning: object('effort'),
      text: object('', { format: TEXT_FORMAT }),
    }),
  },
  MESSAGE,
);

export function isPublicItem(type: unknown): boolean {
  return typeof type === 'string' && Object.hasOwn(OUTPUT_KINDS, type);
}

export function isPublicPart(type: unknown): boolean {
  return typeof type === 'string' && OUTPUT_PART.kinds?.has(type) === true;
}

export function isPublicAnnotation(type: unknown): boolean {
  return typeof type === 'string' && ANNOTATIONS.kinds?.has(type) === true;
}
