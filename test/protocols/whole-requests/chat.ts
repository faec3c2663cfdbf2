import * as fc from 'fast-check';
import { exactly, flag, made, one, SCHEMA, some, TEXT } from './shapes.ts';

const CACHE = { cache_control: one({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }) };
const NAME = one('name_@');

const text = made({ type: one('text'), text: TEXT }, CACHE);
const image = made(
  {
    type: one('image_url'),
    image_url: made(
      { url: one('https://example.com/@.png', 'data:image/png;base64,~') },
      { detail: one('low', 'high', 'auto') },
    ),
  },
  CACHE,
);
const file = made(
  {
    type: one('file'),
    file: made({ file_data: one('data:application/pdf;base64,~') }, { filename: one('@.pdf') }),
  },
  CACHE,
);
const audio = made({
  type: one('input_audio'),
  input_audio: made({ data: one('~'), format: one('wav', 'mp3') }),
});
const texts = fc.oneof(TEXT, some(text));
const user = made(
  {
    role: one('user'),
    content: fc.oneof(TEXT, some(fc.oneof(text, image, file, audio), 4)),
  },
  { name: NAME },
);

const annotation = made({
  type: one('url_citation'),
  url_citation: made({
    url: one('https://example.com/@'),
    title: TEXT,
    start_index: one(1),
    end_index: one(3),
  }),
});

/** Calls with their results behind them. */
const round = fc.record({
  calls: some(
    fc.oneof(
      made({
        id: one('call_@'),
        type: one('function'),
        function: made({ name: one('look_@'), arguments: one('{"city":"@"}') }),
      }),
      made({
        id: one('call_@'),
        type: one('custom'),
        custom: made({ name: one('run_@'), input: TEXT }),
      }),
    ),
    2,
  ),
  said: fc.record(
    {
      content: texts,
      refusal: TEXT,
      name: NAME,
      reasoning_content: TEXT,
      reasoning_details: some(
        made({ type: one('reasoning.text'), text: TEXT, signature: TEXT }),
        1,
      ),
    },
    { requiredKeys: ['content'] },
  ),
  results: fc.array(made({ content: texts }), { minLength: 2, maxLength: 2 }),
});

const answer = made(
  { role: one('assistant'), content: TEXT },
  {
    refusal: TEXT,
    name: NAME,
    annotations: some(annotation, 2),
    audio: exactly({ id: one('audio_@') }),
  },
);

const tool = fc.oneof(
  made(
    {
      type: one('function'),
      function: made({ name: NAME }, { description: TEXT, parameters: SCHEMA, strict: flag }),
    },
    CACHE,
  ),
  made(
    {
      type: one('custom'),
      custom: made(
        { name: NAME },
        {
          description: TEXT,
          format: made({
            type: one('grammar'),
            grammar: made({ syntax: one('lark'), definition: TEXT }),
          }),
        },
      ),
    },
    CACHE,
  ),
);

const MESSAGES = fc
  .tuple(
    fc.array(made({ role: one('system', 'developer'), content: texts }, { name: NAME }), {
      maxLength: 2,
    }),
    user,
    fc.option(answer, { nil: undefined }),
    fc.option(round, { nil: undefined }),
    user,
  )
  .map(([system, first, answered, called, last]) => [
    ...system,
    first,
    ...(answered ? [answered, { role: 'user', content: 'go on @' }] : []),
    ...(called ? turnsOf(called) : []),
    last,
  ]);

interface Round {
  calls: object[];
  said: object;
  results: object[];
}

/** Ids are the same in a call and in its result, so they are no markers of their own. */
function turnsOf({ calls, said, results }: Round): object[] {
  const ids = calls.map((_call, index) => `call-${index}`);
  return [
    { role: 'assistant', ...said, tool_calls: calls.map((call, at) => ({ ...call, id: ids[at] })) },
    ...ids.map((id, at) => ({ role: 'tool', tool_call_id: id, ...results[at] })),
  ];
}

const TOOLS = fc.oneof(
  made(
    {},
    {
      tools: some(tool),
      tool_choice: one<unknown>(
        'auto',
        'none',
        'required',
        { type: 'function', function: { name: 'look' } },
        { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function' }] } },
      ),
      parallel_tool_calls: flag,
    },
  ),
  made(
    { functions: some(made({ name: NAME }, { description: TEXT, parameters: SCHEMA }), 1) },
    { function_call: one<unknown>('auto', 'none', { name: 'look' }) },
  ),
);

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];
const REASONING = fc.oneof(
  one({}),
  made({ reasoning_effort: one(...EFFORTS) }),
  made({
    reasoning: fc
      .tuple(
        fc.oneof(
          made({ effort: one(...EFFORTS) }),
          made({ max_tokens: one(2000) }),
          made({ enabled: flag }),
        ),
        one({}, { exclude: true }, { exclude: false }),
      )
      .map(([amount, shown]) => ({ ...amount, ...shown })),
  }),
);

const SETTINGS = made(
  { model: one('acme/m'), messages: MESSAGES },
  {
    max_tokens: one(5000),
    max_completion_tokens: one(4000),
    temperature: one(0.25, 1, 1.5),
    top_p: one(0.5, 0.97),
    top_k: one(7),
    stop: fc.oneof(one('stop @'), some(TEXT, 2)),
    seed: one(17),
    presence_penalty: one(0.5),
    frequency_penalty: one(-0.5),
    response_format: fc.oneof(
      made({ type: one('json_object') }),
      made({
        type: one('json_schema'),
        json_schema: made({ name: NAME, schema: SCHEMA }, { description: TEXT, strict: flag }),
      }),
    ),
    verbosity: one('low', 'high'),
    logprobs: flag,
    top_logprobs: one(3),
    user: TEXT,
    safety_identifier: TEXT,
    metadata: one({ team: 'team @' }),
    service_tier: one('auto', 'default', 'flex', 'priority'),
    stream: flag,
    stream_options: made({}, { include_usage: flag, include_obfuscation: flag }),
    n: one(1, 2),
    store: flag,
    modalities: one(['text'], ['text', 'audio']),
    audio: exactly({ voice: TEXT, format: one('wav') }),
    prediction: exactly({ type: one('content'), content: TEXT }),
    logit_bias: one({ 17: 5 }),
    web_search_options: made({}, { search_context_size: one('low') }),
    prompt_cache_key: TEXT,
  },
);

export const CHAT_BODY = fc
  .tuple(SETTINGS, TOOLS, REASONING)
  .map(([settings, tools, reasoning]) => ({ ...settings, ...tools, ...reasoning }));
