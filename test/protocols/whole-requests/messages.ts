import * as fc from 'fast-check';
import { exactly, flag, made, one, SCHEMA, some, TEXT } from './shapes.ts';

const CACHE = {
  cache_control: one({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }),
};
const NAME = one('name_@');
const CITED = { citations: one({ enabled: true }) };

const text = made({ type: one('text'), text: TEXT }, CACHE);
const image = made(
  {
    type: one('image'),
    source: fc.oneof(
      made({ type: one('base64'), media_type: one('image/png'), data: one('~') }),
      made({ type: one('url'), url: one('https://example.com/@.png') }),
    ),
  },
  CACHE,
);
const document = made(
  {
    type: one('document'),
    source: fc.oneof(
      made({ type: one('base64'), media_type: one('application/pdf'), data: one('~') }),
      made({ type: one('text'), media_type: one('text/plain'), data: TEXT }),
      made({ type: one('url'), url: one('https://example.com/@.pdf') }),
      made({ type: one('content'), content: some(made({ type: one('text'), text: TEXT })) }),
    ),
  },
  { title: TEXT, context: TEXT, ...CITED, ...CACHE },
);
const search = made(
  {
    type: one('search_result'),
    source: one('https://example.com/@'),
    title: TEXT,
    content: some(made({ type: one('text'), text: TEXT }, CACHE)),
  },
  { ...CITED, ...CACHE },
);
const content = fc.oneof(TEXT, some(fc.oneof(text, image, document, search), 4));

const citation = fc.oneof(
  made({
    type: one('web_search_result_location'),
    url: one('https://example.com/@'),
    title: TEXT,
    cited_text: TEXT,
    encrypted_index: TEXT,
  }),
  made({
    type: one('char_location'),
    cited_text: TEXT,
    document_index: one(0),
    start_char_index: one(0),
    end_char_index: one(4),
  }),
);
const cited = made({ type: one('text'), text: TEXT }, { citations: some(citation, 2), ...CACHE });
const thinking = fc.oneof(
  made({ type: one('thinking'), thinking: TEXT, signature: TEXT }),
  made({ type: one('redacted_thinking'), data: TEXT }),
);
const server = fc
  .constant([
    { type: 'server_tool_use', id: 'srvtoolu_@', name: 'web_search', input: { query: 'query @' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: [
        {
          type: 'web_search_result',
          url: 'https://example.com/@',
          title: 'title @',
          encrypted_content: 'text @',
        },
      ],
    },
  ])
  .map((blocks) => blocks);

const answer = fc
  .tuple(fc.array(thinking, { maxLength: 1 }), fc.option(server), some(cited, 2))
  .map(([thoughts, served, said]) => ({
    role: 'assistant',
    content: [...thoughts, ...(served ?? []), ...said],
  }));

/** Call with its result; the id is the same in both, so it is no marker. */
const round = fc
  .tuple(
    made(
      { name: one('look_@'), input: one({ city: 'city @' }) },
      { ...CACHE, caller: one({ type: 'direct' }) },
    ),
    made(
      {},
      {
        content: fc.oneof(
          TEXT,
          some(
            fc.oneof(
              text,
              image,
              document,
              search,
              exactly({ type: one('tool_reference'), tool_name: TEXT }),
            ),
            3,
          ),
        ),
        is_error: flag,
        ...CACHE,
      },
    ),
    fc.option(text),
  )
  .map(([call, result, behind]) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', ...call }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', ...result },
        ...(behind ? [behind] : []),
      ],
    },
  ]);

const user = made({ role: one('user'), content });
const MESSAGES = fc
  .tuple(user, fc.option(answer), fc.option(round), user)
  .map(([first, answered, called, last]) => [
    first,
    ...(answered ? [answered, { role: 'user', content: 'go on @' }] : []),
    ...(called ?? []),
    last,
  ]);

const tool = fc.oneof(
  made(
    { name: NAME, input_schema: SCHEMA },
    {
      type: one('custom'),
      description: TEXT,
      strict: flag,
      ...CACHE,
      defer_loading: one(true),
      input_examples: one([{ city: 'city @' }]),
    },
  ),
  made(
    { type: one('web_search_20250305'), name: one('web_search') },
    { max_uses: one(3), allowed_domains: one(['@.com']) },
  ),
);

export const MESSAGES_BODY = made(
  { model: one('acme/m'), max_tokens: one(4000), messages: MESSAGES },
  {
    system: fc.oneof(TEXT, some(text, 2)),
    temperature: one(0.25, 1),
    top_p: one(0.5, 0.97),
    top_k: one(7),
    stop_sequences: some(TEXT, 2),
    stream: flag,
    metadata: made({}, { user_id: TEXT }),
    service_tier: one('auto', 'standard_only'),
    thinking: fc.oneof(
      made(
        { type: one('enabled'), budget_tokens: one(2000) },
        { display: one('summarized', 'omitted') },
      ),
      made({ type: one('adaptive') }, { display: one('summarized', 'omitted') }),
      made({ type: one('disabled') }),
    ),
    output_config: made(
      {},
      {
        effort: one('low', 'medium', 'high', 'max'),
        format: made({ type: one('json_schema'), schema: SCHEMA }),
        task_budget: one({ type: 'tokens', total: 5000 }),
      },
    ),
    tools: some(tool),
    tool_choice: fc.oneof(
      made({ type: one('auto', 'any') }, { disable_parallel_tool_use: flag }),
      made({ type: one('none') }),
      made({ type: one('tool'), name: one('look') }, { disable_parallel_tool_use: flag }),
    ),
    container: TEXT,
    mcp_servers: one([{ type: 'url', url: 'https://example.com/@', name: 'name @' }]),
    context_management: one({ edits: [{ type: 'clear_tool_uses_20250919' }] }),
    cache_control: one({ type: 'ephemeral' }),
    inference_geo: TEXT,
  },
);
