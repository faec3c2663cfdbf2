import { ANNOTATIONS, LOGPROBS, OUTPUT_PART } from './content-shapes.ts';
import { OUTPUT_ITEM } from './item-shapes.ts';
import { RESPONSE } from './response-shape.ts';
import { list, object, slot } from './shape.ts';
import type { Shape } from './shape.ts';

type Members = Readonly<Record<string, Shape>>;

const EVENT = 'type sequence_number';

/** `item_id` and the position of an item; slots: `output_index`, `content_index`. */
function ofItem(scalars = '', members: Members = {}): Shape {
  return object(`${EVENT} item_id ${scalars}`, { output_index: slot('output_index'), ...members });
}

function ofContent(scalars = '', members: Members = {}): Shape {
  return ofItem(scalars, { content_index: slot('content_index'), ...members });
}

/** `response.<name>.<step>` for each step. */
function steps(name: string, words: string, shape: Shape): [string, Shape][] {
  return words.split(' ').map((step) => [`response.${name}.${step}`, shape]);
}

const LIFECYCLE = 'created queued in_progress completed failed incomplete';
/** Random padding against guesses from the size of events. */
const DELTA = 'delta obfuscation';

const HOSTED: [string, Shape][] = [
  ...steps('file_search_call', 'in_progress searching completed', ofItem()),
  ...steps('web_search_call', 'in_progress searching completed', ofItem()),
  ...steps('code_interpreter_call', 'in_progress interpreting completed', ofItem()),
  ...steps('code_interpreter_call_code', 'delta done', ofItem(`${DELTA} code`)),
  ...steps('image_generation_call', 'in_progress generating completed', ofItem()),
  ...steps(
    'image_generation_call',
    'partial_image',
    ofItem('partial_image_b64 partial_image_index background output_format quality size'),
  ),
  ...steps('mcp_call', 'in_progress completed failed', ofItem()),
  ...steps('mcp_call_arguments', 'delta done', ofItem(`${DELTA} arguments`)),
  ...steps('mcp_list_tools', 'in_progress completed failed', ofItem()),
  ...steps('shell_call_command', 'added delta done', ofItem(`${DELTA} command command_index`)),
  ...steps(
    'shell_call_output_content',
    'delta done',
    ofItem('command_index obfuscation', {
      delta: object('stderr stdout'),
      output: list(object('stderr stdout created_by', { outcome: object('type exit_code') })),
    }),
  ),
  ...steps('compaction', 'compacting', ofItem()),
];

/**
 * Every public event of a Responses stream, from the type `ResponseStreamEvent` of the official client
 * (openai 7.55 and 6.49); all others are private (requirement responses.stream.public-events).
 */
export const EVENTS: ReadonlyMap<string, Shape> = new Map([
  ...LIFECYCLE.split(' ').map((step): [string, Shape] => [
    `response.${step}`,
    object(EVENT, { response: RESPONSE }),
  ]),
  ['error', object(`${EVENT} code param`, { message: slot('error.message') })],
  ...steps('output_item', 'added done', ofItem('', { item: OUTPUT_ITEM })),
  ...steps('content_part', 'added done', ofContent('', { part: OUTPUT_PART })),
  ...steps('output_text', 'delta done', ofContent(`${DELTA} text`, { logprobs: LOGPROBS })),
  ...steps(
    'output_text.annotation',
    'added',
    ofContent('annotation_index', { annotation: ANNOTATIONS }),
  ),
  ...steps('refusal', 'delta done', ofContent(`${DELTA} refusal`)),
  ...steps('reasoning_text', 'delta done', ofContent(`${DELTA} text`)),
  ...steps(
    'reasoning_summary_part',
    'added done',
    ofItem('summary_index status', { part: object('type text') }),
  ),
  ...steps('reasoning_summary_text', 'delta done', ofItem(`${DELTA} text summary_index`)),
  ...steps('function_call_arguments', 'delta done', ofItem(`${DELTA} arguments name`)),
  ...steps('custom_tool_call_input', 'delta done', ofItem(`${DELTA} input`)),
  ...steps('audio', 'delta done', object(`${EVENT} ${DELTA}`)),
  ...steps('audio.transcript', 'delta done', object(`${EVENT} ${DELTA}`)),
  ...HOSTED,
]);
