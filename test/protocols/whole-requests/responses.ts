import * as fc from 'fast-check';
import { exactly, flag, made, one, SCHEMA, some, TEXT } from './shapes.ts';

const NAME = one('name_@');
const text = made({ type: one('input_text'), text: TEXT });
const image = made({
  type: one('input_image'),
  image_url: one('https://example.com/@.png', 'data:image/png;base64,~'),
  detail: one('low', 'high', 'auto'),
});
const file = fc.oneof(
  made({
    type: one('input_file'),
    filename: one('@.pdf'),
    file_data: one('data:application/pdf;base64,~'),
  }),
  made({ type: one('input_file'), file_url: one('https://example.com/@.pdf') }),
);
const content = fc.oneof(TEXT, some(fc.oneof(text, image, file), 4));
const message = made({ role: one('user'), content }, { type: one('message') });
const system = made({ role: one('system', 'developer'), content: fc.oneof(TEXT, some(text)) });

const annotation = fc.oneof(
  made({
    type: one('url_citation'),
    url: one('https://example.com/@'),
    title: TEXT,
    start_index: one(1),
    end_index: one(3),
  }),
  made({ type: one('file_citation'), file_id: one('file-@'), filename: TEXT, index: one(1) }),
);
const answer = made(
  {
    type: one('message'),
    role: one('assistant'),
    content: some(
      fc.oneof(
        made({
          type: one('output_text'),
          text: TEXT,
          annotations: fc.array(annotation, { maxLength: 2 }),
        }),
        made({ type: one('refusal'), refusal: TEXT }),
      ),
      2,
    ),
  },
  { phase: one('commentary') },
);
const reasoning = made(
  {
    type: one('reasoning'),
    summary: fc.array(made({ type: one('summary_text'), text: TEXT }), { maxLength: 2 }),
  },
  {
    content: some(made({ type: one('reasoning_text'), text: TEXT }), 1),
    encrypted_content: TEXT,
  },
);

/** Call with its result; the id is the same in both, so it is no marker. */
const round = fc
  .tuple(
    fc.boolean(),
    fc.option(reasoning, { nil: undefined }),
    made({}, { namespace: TEXT }),
    content,
    fc.boolean(),
  )
  .map(([isCustom, thought, extra, output, isLost]) => {
    const [type, argument] = isCustom
      ? ['custom_tool_call', { input: 'input @' }]
      : ['function_call', { arguments: '{"city":"@"}' }];
    const call = { type, call_id: 'call-1', name: 'look_@', ...argument, ...extra };
    const result = { type: `${type}_output`, call_id: isLost ? 'call-2' : 'call-1', output };
    return [...(thought ? [thought] : []), call, result];
  });

const other = fc.oneof(
  made({ type: one('web_search_call'), action: exactly({ type: one('search'), query: TEXT }) }),
  made({
    type: one('mcp_call'),
    name: NAME,
    arguments: one('{"a":"@"}'),
    server_label: TEXT,
    output: TEXT,
  }),
  made({
    type: one('mcp_list_tools'),
    server_label: TEXT,
    tools: one([{ name: 'tool @', input_schema: {} }]),
  }),
  made({ type: one('image_generation_call'), result: one('~') }),
);

const INPUT = fc
  .tuple(
    fc.array(system, { maxLength: 1 }),
    message,
    fc.option(answer),
    fc.option(round),
    fc.option(other),
    message,
  )
  .map(([first, asked, answered, called, others, last]) => [
    ...first,
    asked,
    ...(answered ? [answered] : []),
    ...(others ? [others] : []),
    ...(called ?? []),
    last,
  ]);

const tool = fc.oneof(
  made(
    { type: one('function'), name: NAME, parameters: SCHEMA, strict: flag },
    { description: TEXT, defer_loading: one(true) },
  ),
  made(
    { type: one('custom'), name: NAME },
    {
      description: TEXT,
      format: made({ type: one('grammar'), syntax: one('lark'), definition: TEXT }),
    },
  ),
  made(
    { type: one('web_search') },
    { search_context_size: one('low'), user_location: exactly({ city: TEXT }) },
  ),
);

export const RESPONSES_BODY = made(
  { model: one('acme/m'), input: fc.oneof(TEXT, INPUT) },
  {
    instructions: TEXT,
    max_output_tokens: one(4000, 8),
    temperature: one(0.25, 1.5),
    top_p: one(0.5, 0.97),
    top_logprobs: one(3),
    reasoning: made(
      {},
      {
        effort: one('none', 'minimal', 'low', 'medium', 'high', 'xhigh'),
        summary: one('auto', 'concise', 'detailed'),
      },
    ),
    text: made(
      {},
      {
        format: fc.oneof(
          made({ type: one('json_object') }),
          made(
            { type: one('json_schema'), name: NAME, schema: SCHEMA },
            { description: TEXT, strict: flag },
          ),
        ),
        verbosity: one('low', 'high'),
      },
    ),
    user: TEXT,
    safety_identifier: TEXT,
    metadata: one({ team: 'team @' }),
    service_tier: one('auto', 'default', 'flex', 'priority'),
    stream: flag,
    stream_options: made({}, { include_obfuscation: flag }),
    include: one(
      ['reasoning.encrypted_content'],
      ['message.output_text.logprobs'],
      ['file_search_call.results'],
    ),
    tools: some(tool),
    tool_choice: one<unknown>(
      'auto',
      'none',
      'required',
      { type: 'function', name: 'look' },
      { type: 'web_search' },
    ),
    parallel_tool_calls: flag,
    store: flag,
    background: one(false),
    truncation: one('auto', 'disabled'),
    max_tool_calls: one(3),
    prompt_cache_key: TEXT,
    prompt_cache_retention: one('24h'),
  },
);
