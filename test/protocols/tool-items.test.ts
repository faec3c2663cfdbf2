import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';

import { atOnce } from '../support/protocols.ts';
import { verifies } from '../requirements.ts';
import { answer, OPTIONS, peekOf, rowOf, stream, translate } from './translating.ts';
import { wireTo } from './spoken.ts';

const PATCH = '*** Begin Patch\n"quoted"\n';
const GRAMMAR = { syntax: 'lark', definition: 'start: "x"' };

const CHAT = {
  tools: [
    {
      type: 'custom',
      custom: { name: 'patch', description: 'd', format: { type: 'grammar', grammar: GRAMMAR } },
    },
  ],
  tool_choice: { type: 'custom', custom: { name: 'patch' } },
  messages: [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'patch', input: PATCH } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'done' },
  ],
};

const RESPONSES = {
  tools: [
    { type: 'custom', name: 'patch', description: 'd', format: { type: 'grammar', ...GRAMMAR } },
  ],
  tool_choice: { type: 'custom', name: 'patch' },
  input: [
    { role: 'user', content: 'go' },
    { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: PATCH },
    { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
  ],
};

const said = (body: unknown) => JSON.stringify(body);

describe('custom tools of a request', () => {
  it(
    verifies(
      'translate.custom-tools',
      'are custom tools in chat and Responses, functions of one text elsewhere',
    ),
    () => {
      const there = translate('chat', CHAT, 'responses');
      expect(there.body).toMatchObject(RESPONSES);
      const back = translate('responses', RESPONSES, 'chat');
      expect(back.body).toMatchObject(CHAT);
      expect([...there.losses, ...back.losses]).toEqual([]);
      for (const [client, request] of [
        ['chat', CHAT],
        ['responses', RESPONSES],
      ] as const) {
        const { body } = translate(client, request, 'messages');
        expect(body.tools[0]).toMatchObject({
          name: 'patch',
          input_schema: { properties: { input: { type: 'string' } }, required: ['input'] },
        });
        expect(said(body.tools)).toContain('start:');
        expect(body.tool_choice).toEqual({ type: 'tool', name: 'patch' });
        expect(body.messages[1].content[0]).toMatchObject({
          type: 'tool_use',
          name: 'patch',
          input: { input: PATCH },
        });
        expect(body.messages[2].content[0]).toMatchObject({ content: 'done' });
        const { body: google } = translate(client, request, 'generate-content');
        expect(google.contents[1].parts[0].functionCall.args).toEqual({ input: PATCH });
      }
    },
  );

  it('say that a grammar is told and not enforced', () => {
    expect(translate('chat', CHAT, 'messages').losses).toEqual(['tools.custom.format']);
    expect(translate('responses', RESPONSES, 'messages').losses).toEqual(['tools.format']);
  });
});

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'c1', name: 'patch', input: { input: PATCH } }],
  stop_reason: 'tool_use',
  usage: { input_tokens: 1, output_tokens: 1 },
};
const MESSAGE_EVENTS = [
  { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'tool_use', id: 'c1', name: 'patch', input: {} },
  },
  ...['{"inp', `ut":${JSON.stringify(PATCH)}}`].map((partial_json) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json },
  })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
];
const COMPLETION = {
  id: 'c',
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: null, tool_calls: CHAT.messages[1]?.tool_calls },
      finish_reason: 'tool_calls',
    },
  ],
};
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [{ ...RESPONSES.input[1], id: 'ctc_1', status: 'completed' }],
};

describe('calls of custom tools in an answer', () => {
  it(verifies('translate.custom-tools', 'have the form that the client declared'), () => {
    const call = { type: 'custom', custom: { name: 'patch', input: PATCH } };
    for (const given of [
      { target: 'messages', body: MESSAGE },
      { target: 'responses', body: RESPONSE },
    ] as const)
      expect(answer('chat', CHAT, given).choices[0]).toMatchObject({
        message: { tool_calls: [{ id: 'c1', ...call }] },
        finish_reason: 'tool_calls',
      });
    for (const given of [
      { target: 'messages', body: MESSAGE },
      { target: 'chat', body: COMPLETION },
    ] as const)
      expect(answer('responses', RESPONSES, given).output[0]).toMatchObject(
        RESPONSES.input[1] as object,
      );
  });

  it(verifies('translate.custom-tools', 'have it in streams, too'), () => {
    const given = { target: 'messages', events: MESSAGE_EVENTS } as const;
    const chat = stream('chat', { ...CHAT, stream: true }, given);
    expect(chat).toContain(`"custom":{"input":${JSON.stringify(PATCH)}}`);
    expect(chat).toContain('"type":"custom"');
    const responses = stream('responses', { ...RESPONSES, stream: true }, given);
    expect(responses).toContain('event: response.custom_tool_call_input.done');
    expect(responses).toContain(`"name":"patch","input":${JSON.stringify(PATCH)}`);
    expect(responses).not.toContain('function_call');
  });

  it('are read from the stream of a provider that has them', () => {
    const item = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c1', name: 'patch' };
    const events = [
      { type: 'response.created', response: { id: 'resp_1' } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, input: '' } },
      { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: PATCH },
      { type: 'response.output_item.done', output_index: 0, item: { ...item, input: PATCH } },
      { type: 'response.completed', response: RESPONSE },
    ];
    const told = stream('chat', { ...CHAT, stream: true }, { target: 'responses', events });
    expect(told).toContain(`"custom":{"input":${JSON.stringify(PATCH)}}`);
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      id: 'c',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason }],
    });
    const pieces = [
      chunk({
        tool_calls: [{ index: 0, id: 'c1', type: 'custom', custom: { name: 'patch', input: '' } }],
      }),
      chunk({ tool_calls: [{ index: 0, custom: { input: PATCH } }] }),
      chunk({}, 'tool_calls'),
    ];
    const back = stream(
      'responses',
      { ...RESPONSES, stream: true },
      { target: 'chat', events: pieces },
    );
    expect(back).toContain(`"name":"patch","input":${JSON.stringify(PATCH)}`);
  });
});

describe('a custom call of a function', () => {
  const text = 'SELECT "a\u{1F600}"\n';
  const item = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c1', name: 'query', input: text };
  const request = {
    max_tokens: 9,
    messages: [{ role: 'user', content: 'go' }],
    tools: [{ name: 'query', input_schema: { type: 'object' } }],
  };

  it(verifies('translate.custom-tools', 'has its text as an argument, in streams, too'), () => {
    const body = { ...RESPONSE, output: [item] };
    const whole = answer('messages', request, { target: 'responses', body });
    expect(whole.content).toMatchObject([
      { type: 'tool_use', name: 'query', input: { input: text } },
    ]);
    // A pair of surrogates may come in two pieces.
    const deltas = [text.slice(0, 10), text.slice(10)].map((delta) => ({
      type: 'response.custom_tool_call_input.delta',
      output_index: 0,
      delta,
    }));
    const events = [
      { type: 'response.created', response: { id: 'resp_1' } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, input: '' } },
      ...deltas,
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: body },
    ];
    const told = stream('messages', { ...request, stream: true }, { target: 'responses', events });
    const pieces = [...told.matchAll(/^data: (.*"input_json_delta".*)$/gm)].map(
      ([, data = '']) => JSON.parse(data).delta.partial_json,
    );
    expect(JSON.parse(pieces.join(''))).toEqual({ input: text });
  });
});

describe('legacy functions', () => {
  const request = {
    messages: [{ role: 'user', content: 'go' }],
    functions: [{ name: 'patch', parameters: {} }],
  };
  const args = JSON.stringify({ input: PATCH });

  it(
    verifies('chat.legacy-functions', 'are answered with a function call, also in streams'),
    () => {
      const whole = answer('chat', request, { target: 'messages', body: MESSAGE });
      expect(whole.choices[0]).toMatchObject({
        message: { content: null, function_call: { name: 'patch', arguments: args } },
        finish_reason: 'function_call',
      });
      expect(whole.choices[0].message).not.toHaveProperty('tool_calls');
      const told = stream(
        'chat',
        { ...request, stream: true },
        { target: 'messages', events: MESSAGE_EVENTS },
      );
      expect(told).toContain('"function_call":{"name":"patch","arguments":""}');
      expect(told).toContain('"finish_reason":"function_call"');
      expect(told).not.toContain('tool_calls');
    },
  );

  it('are called one at a time, and a further call is named as lost', () => {
    const { body } = translate('chat', request, 'messages');
    expect(body.tool_choice).toMatchObject({ disable_parallel_tool_use: true });
    const [call] = MESSAGE.content;
    const both = { ...MESSAGE, content: [call, { ...call, id: 'c2', name: 'other' }] };
    const wire = wireTo(rowOf('chat').protocol, 'messages');
    const read = atOnce(wire.readAnswer(Buffer.from(said(both)), peekOf('chat', request), OPTIONS));
    expect(read?.losses).toEqual(['parallel_tool_calls']);
    expect(String(read?.body)).not.toContain('other');
  });
});

describe('items of tools that no other protocol has', () => {
  const items = [
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { query: 'SEARCHED' } },
    { type: 'local_shell_call', call_id: 's1', action: { command: ['SHELL'] } },
    { type: 'local_shell_call_output', call_id: 's1', output: 'LISTED' },
    { type: 'apply_patch_call', call_id: 'p1', operation: { diff: 'DIFF' } },
    { type: 'apply_patch_call_output', call_id: 'p1', output: 'APPLIED' },
    { type: 'mcp_call', name: 'MCP', arguments: '{}', output: 'ANSWERED' },
    { type: 'never_heard_of', what: 'UNKNOWN' },
  ];

  it.each(['chat', 'messages', 'generate-content'] as const)(
    verifies('translate.server-items', 'are told as text: %s'),
    (target) => {
      const input = [{ role: 'user', content: 'x' }, ...items, { role: 'user', content: 'y' }];
      const { body, losses } = translate('responses', { input }, target);
      const conversation = said(body.messages ?? body.contents);
      for (const word of ['SEARCHED', 'SHELL', 'LISTED', 'DIFF', 'APPLIED', 'MCP', 'ANSWERED'])
        expect(conversation).toContain(word);
      expect(conversation).toContain('UNKNOWN');
      expect(losses).toEqual([]);
    },
  );

  it('stand behind the results of the calls that were made with them', () => {
    const input = [
      { role: 'user', content: 'x' },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      ...items.slice(1, 3),
      { type: 'function_call_output', call_id: 'a', output: 'fine' },
    ];
    const { body } = translate('responses', { input }, 'chat');
    expect(body.messages.map(({ role }: { role: string }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ]);
  });

  it('show the picture of a screen, and name one that is left out', () => {
    const output = { type: 'computer_screenshot', image_url: 'data:image/png;base64,AAAA' };
    const input = [
      { type: 'image_generation_call', id: 'ig_1', result: 'PICTURE', revised_prompt: 'a cat' },
      { type: 'computer_call_output', call_id: 'c', output },
    ];
    const { body, losses } = translate('responses', { input }, 'messages');
    expect(said(body)).toContain('"data":"AAAA"');
    expect(said(body)).toContain('a cat');
    expect(said(body)).not.toContain('PICTURE');
    expect(losses).toEqual(['input[0].image_generation_call.result']);
  });
});

describe('items that declare tools', () => {
  const tool = (name: string, description: string) => ({ type: 'function', name, description });

  it.each(['chat', 'messages', 'generate-content'] as const)(
    verifies(
      'translate.declaring-items',
      'add them to those of the request, the last of a name: %s',
    ),
    (target) => {
      const input = [
        { type: 'additional_tools', role: 'developer', tools: [tool('f', 'ADDED')] },
        { role: 'user', content: 'call f' },
        { type: 'tool_search_output', call_id: 's', tools: [tool('g', 'FOUND'), { type: 'mcp' }] },
      ];
      const request = { input, tools: [tool('f', 'FIRST'), tool('h', 'KEPT')] };
      const { body, losses } = translate('responses', request, target);
      const { tools, ...rest } = body;
      for (const word of ['ADDED', 'FOUND', 'KEPT']) expect(said(tools)).toContain(word);
      expect(said(tools)).not.toContain('FIRST');
      expect(said(rest)).not.toMatch(
        /additional_tools|tool_search_output|"role":"(assistant|model)"/,
      );
      expect(losses).toEqual(['input[2].tools[1].mcp']);
    },
  );

  it('have custom tools, too', () => {
    const [custom] = RESPONSES.tools;
    const input = [
      { type: 'additional_tools', role: 'developer', tools: [custom] },
      { role: 'user', content: 'go' },
    ];
    const told = answer('responses', { input }, { target: 'messages', body: MESSAGE });
    expect(told.output[0]).toMatchObject({ type: 'custom_tool_call', name: 'patch', input: PATCH });
  });

  it('and changes of settings take the place of what was asked before', () => {
    const update = { reasoning: { effort: 'high' }, text: { verbosity: 'low' } };
    const input = [
      { role: 'user', content: 'go' },
      { type: 'configuration_update', ...update },
    ];
    const { body, losses } = translate(
      'responses',
      { input, reasoning: { effort: 'low' } },
      'chat',
    );
    expect(body).toMatchObject({ reasoning_effort: 'high', verbosity: 'low' });
    expect(body.messages).toHaveLength(1);
    expect(losses).toEqual([]);
  });
});

describe('an item that is told as text', () => {
  it('stands apart from the answer behind it, with reasoning between them', () => {
    const input = [
      { role: 'user', content: 'go' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { query: 'q' } },
      { type: 'reasoning', summary: [] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] },
    ];
    const { body } = translate('responses', { input }, 'chat');
    expect(body.messages.at(-1).content).toMatch(/^\[web_search_call\] \{.*\}\n\nhi$/);
  });
});

describe('what is lost', () => {
  const cases = [
    [
      'responses',
      {
        input: [
          { role: 'user', content: [{ type: 'input_text', text: 'x' }, { type: 'input_audio' }] },
          { type: 'custom_tool_call_output', call_id: 'gone', output: 'x' },
        ],
        tools: [{ type: 'web_search' }],
      },
      [
        'input[0].content[1].input_audio',
        'input[1].custom_tool_call_output',
        'tools[0].web_search',
      ],
    ],
    [
      'messages',
      {
        max_tokens: 99,
        messages: [
          { role: 'user', content: [{ type: 'container_upload', file_id: 'f' }] },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'a',
                content: [{ type: 'tool_reference', tool_name: 'g' }],
              },
            ],
          },
        ],
        tools: [{ type: 'bash_20250124', name: 'bash' }],
      },
      [
        'messages[0].content[0].container_upload',
        'messages[2].content[0].content[0].tool_reference',
        'tools[0].bash_20250124',
      ],
    ],
    [
      'chat',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x' },
              { type: 'video_url', video_url: { url: 'x' } },
            ],
          },
        ],
        tools: [{ type: 'web_search' }],
      },
      ['messages[0].content[1].video_url', 'tools[0].web_search'],
    ],
    [
      'generate-content',
      {
        contents: [{ parts: [{ text: 'x' }, { executableCode: {} }] }],
        tools: [{ googleSearch: {} }],
      },
      ['contents[0].parts[1].executableCode', 'tools[0].googleSearch'],
    ],
  ] as const;

  it.each(cases)(
    verifies('translate.losses-by-path', 'is named by where the client put it: %s'),
    (client, request, paths) => {
      for (const target of ['chat', 'responses', 'messages', 'generate-content'] as const) {
        if (target === client) continue;
        expect(translate(client, request, target).losses.toSorted()).toEqual([...paths].toSorted());
      }
    },
  );
});
