import { describe, expect, it } from 'vitest';
import type { Protocol } from '../../../src/protocols/registry.ts';
import type {
  CanonicalRequest,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../../src/protocols/canonical/canonical.ts';
import { writeTo as write } from './write-to.ts';

const TOOL = { type: 'function', name: 'f' } as const;
const HI: Turn = { role: 'user', parts: [{ type: 'text', text: 'hi' }] };

const gemini = (model: string, fields: Partial<CanonicalRequest>) =>
  write('generate-content', model, fields);
const claude = (model: string, fields: Partial<CanonicalRequest>) =>
  write('messages', model, fields);

const call = (id: string): ToolCallPart => ({
  type: 'tool_call',
  id,
  name: 'f',
  arguments: '{}',
});
const result = (callId: string, content: ToolResultPart['content']): Turn => ({
  role: 'tool',
  parts: [{ type: 'tool_result', callId, content, isError: false }],
});
const said = (text: string): ToolResultPart['content'] => [{ type: 'text', text }];
const signed = (origin: Protocol, ofNext = false): ReasoningPart => ({
  type: 'reasoning',
  text: ofNext ? '' : 'hm',
  signature: { origin, value: 'c2ln' },
  ...(ofNext && { ofNext }),
});

describe('encrypted reasoning of Responses', () => {
  it('is asked for where the model reasons', () => {
    for (const model of ['gpt-4o', 'gpt-4.1-mini', 'gpt-5-chat-latest'])
      expect(write('responses', model, {}).body).not.toHaveProperty('include');
    for (const model of ['gpt-5', 'o3', 'someone/unknown'])
      expect(write('responses', model, {}).body.include).toEqual(['reasoning.encrypted_content']);
    const { body } = write('responses', 'gpt-4o', { logprobs: 2 });
    expect(body.include).toEqual(['message.output_text.logprobs']);
  });
});

describe('calls that are sent back to Gemini', () => {
  const round = (...parts: Turn['parts']): Turn[] => [
    HI,
    { role: 'assistant', parts },
    result('a', said('1')),
    result('b', said('2')),
  ];
  const skipped = 'skip_thought_signature_validator';

  it('bear a word for the signature that is missing, the first of each turn, from 3 on', () => {
    const turns = [
      ...round(call('a'), call('b')),
      { role: 'assistant', parts: [{ type: 'text', text: 'so' }, call('c')] } as const,
      result('c', said('3')),
    ];
    const { body, losses } = gemini('gemini-3-pro-preview', { turns, tools: [TOOL] });
    const [first, second] = body.contents.filter(({ role }: { role: string }) => role === 'model');
    expect(first.parts.map((part: any) => part.thoughtSignature)).toEqual([skipped, undefined]);
    expect(second.parts.map((part: any) => part.thoughtSignature)).toEqual([undefined, skipped]);
    expect(losses).toEqual([]);
    const older = gemini('gemini-2.5-pro', { turns, tools: [TOOL] });
    expect(JSON.stringify(older.body)).not.toContain(skipped);
  });

  it('keep their own, and one for that of another provider', () => {
    const own = round(signed('generate-content', true), call('a'), call('b'));
    const [, model] = gemini('gemini-3-pro-preview', { turns: own }).body.contents;
    expect(model.parts.map((part: any) => part.thoughtSignature)).toEqual(['c2ln', undefined]);
    const foreign = gemini('gemini-3-pro-preview', {
      turns: round(signed('messages', true), call('a'), call('b')),
    });
    expect(foreign.body.contents[1].parts[0].thoughtSignature).toBe(skipped);
    expect(foreign.losses).toEqual(['reasoning_signatures']);
  });
});

describe('media in results of tools', () => {
  const image = { type: 'image', source: { type: 'data', mediaType: 'image/png', data: 'aGk=' } };
  const turns: Turn[] = [
    HI,
    { role: 'assistant', parts: [call('a'), call('b')] },
    result('a', [...said('shot'), image as ToolResultPart['content'][number]]),
    result('b', said('done')),
    { role: 'user', parts: [{ type: 'text', text: 'well?' }] },
  ];

  it('are shown by the user, apart from the results, before Gemini 3', () => {
    const { body, losses } = gemini('gemini-2.5-pro', { turns });
    expect(body.contents.slice(2)).toEqual([
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'f', response: { output: 'shot' } } },
          { functionResponse: { id: 'b', name: 'f', response: { output: 'done' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { text: 'Files in the result of the tool call a:' },
          { inlineData: { mimeType: 'image/png', data: 'aGk=' } },
        ],
      },
      { role: 'user', parts: [{ text: 'well?' }] },
    ]);
    expect(losses).toEqual(['tool_result_images']);
  });

  it('stand in them from Gemini 3 on', () => {
    const { body, losses } = gemini('gemini-3-flash-preview', { turns });
    const [one] = body.contents[2].parts;
    expect(one.functionResponse.parts).toHaveLength(1);
    expect(losses).toEqual([]);
  });
});

describe('the end user', () => {
  const long = `user_${'a'.repeat(64)}_account_1_session_2`;

  it('is a digest towards OpenAI where it is longer than 64 characters', () => {
    for (const protocol of ['chat', 'responses'] as const) {
      const sent = write(protocol, 'gpt-5', { user: long }).body.user;
      expect(sent).toMatch(/^[0-9a-f]{64}$/);
      expect(write(protocol, 'gpt-4o', { user: long }).body.user).toBe(sent);
      expect(write(protocol, 'gpt-5', { user: `${long}x` }).body.user).not.toBe(sent);
      expect(write(protocol, 'gpt-5', { user: 'a'.repeat(64) }).body.user).toBe('a'.repeat(64));
    }
  });

  it('is a digest towards Anthropic where it is an address or a telephone number', () => {
    const sent = (user: string) => claude('claude-opus-5', { user }).body.metadata.user_id;
    for (const user of ['ann@example.com', '+49 (30) 123-4567'])
      expect(sent(user)).toMatch(/^[0-9a-f]{64}$/);
    for (const user of [long, 'ann', '42']) expect(sent(user)).toBe(user);
  });
});

describe('thinking within a budget', () => {
  const asked = { reasoning: { effort: 'high' }, tools: [TOOL] };
  const turns = (...parts: Turn['parts']): Turn[] => [
    HI,
    { role: 'assistant', parts },
    result('a', said('1')),
  ];

  it('ends where a call came back without the thinking before it, named', () => {
    for (const parts of [
      [call('a')],
      [signed('responses'), call('a')],
      [{ type: 'text', text: 'so' } as const, call('a')],
    ]) {
      const { body, losses } = claude('claude-sonnet-4-5', { ...asked, turns: turns(...parts) });
      expect(body.thinking).toEqual({ type: 'disabled' });
      expect(losses).toContain('reasoning');
    }
  });

  it('goes on behind its own thinking, behind an answer, and without a budget', () => {
    const own = { ...asked, turns: turns(signed('messages'), call('a')) };
    const first = claude('claude-sonnet-4-5', own);
    expect([first.body.thinking.type, first.losses]).toEqual(['enabled', []]);
    const over = [...turns(call('a')), { role: 'assistant', parts: said('ok') } as const, HI];
    expect(claude('claude-sonnet-4-5', { ...asked, turns: over }).body.thinking.type).toBe(
      'enabled',
    );
    const later = [...own.turns, { role: 'assistant', parts: [call('b')] } as const];
    const steps = [...later, result('b', said('2'))];
    const second = claude('claude-sonnet-4-5', { ...asked, turns: steps });
    expect([second.body.thinking.type, second.losses]).toEqual(['enabled', []]);
    const adaptive = claude('claude-opus-4-8', { ...asked, turns: turns(call('a')) });
    expect(adaptive.body.thinking).toEqual({ type: 'adaptive' });
  });
});

describe('thinking that is switched off', () => {
  const reasoning = { effort: 'none' };
  const thinks = (body: { messages: object[] }) => JSON.stringify(body).includes('"thinking":"hm"');
  const looped: Turn[] = [
    HI,
    { role: 'assistant', parts: [signed('messages'), call('a')] },
    result('a', said('1')),
  ];

  it('takes that of the loop along, also where the user speaks beside a result, named', () => {
    for (const turns of [looped, [...looped, HI]]) {
      const { body, losses } = claude('claude-sonnet-4-5', { reasoning, turns });
      expect([body.thinking, thinks(body)]).toEqual([{ type: 'disabled' }, false]);
      expect(losses).toEqual(['reasoning_signatures']);
    }
  });

  it('leaves that of earlier answers, which are over', () => {
    const turns = [...looped, { role: 'assistant', parts: said('ok') } as const, HI];
    const { body, losses } = claude('claude-sonnet-4-5', { reasoning, turns });
    expect([thinks(body), losses]).toEqual([true, []]);
  });
});

describe('Claude that always thinks', () => {
  it('is not told to stop, and thinks the least', () => {
    for (const model of [
      'claude-fable-5',
      'claude-mythos-5',
      'claude-opus-5-5',
      'claude-sonnet-5-5',
    ]) {
      const { body, losses } = claude(model, { reasoning: { effort: 'none' } });
      expect([body.thinking, body.output_config]).toEqual([
        { type: 'adaptive' },
        { effort: 'low' },
      ]);
      expect(losses).toEqual(['reasoning']);
    }
    const stops = claude('claude-opus-5', { reasoning: { effort: 'none' } });
    expect(stops.body.thinking).toEqual({ type: 'disabled' });
  });

  it('is free to call a tool where one cannot be forced, named', () => {
    for (const toolChoice of ['required', { name: 'f' }] as const) {
      const asked = { tools: [TOOL], toolChoice, reasoning: { effort: 'low' } };
      const { body, losses } = claude('claude-sonnet-5-5', asked);
      expect([body.tool_choice, body.thinking]).toEqual([{ type: 'auto' }, { type: 'adaptive' }]);
      expect(losses).toEqual(['tool_choice']);
      const forced = claude('claude-fable-5', { tools: [TOOL], toolChoice });
      expect(forced.body.tool_choice.type).not.toBe('auto');
    }
  });
});

describe('schemas of answers of Claude', () => {
  const output = (schema: unknown): Partial<CanonicalRequest> => ({
    output: { type: 'schema', schema },
  });

  it('are closed, and say their bounds in words', () => {
    const { body, losses } = claude(
      'claude-sonnet-4-5',
      output({
        type: 'object',
        properties: {
          minimum: { type: 'integer', minimum: 1, maximum: 9, description: 'A digit' },
          list: { type: 'array', minItems: 2, items: { type: ['object', 'null'] } },
          one: { oneOf: [{ type: 'string', maxLength: 3 }, { $ref: '#/$defs/d' }] },
        },
        $defs: { d: { properties: { x: { enum: [{ minimum: 1 }] } } } },
      }),
    );
    expect(body.output_config.format.schema).toEqual({
      type: 'object',
      additionalProperties: false,
      properties: {
        minimum: { type: 'integer', description: 'A digit (minimum: 1, maximum: 9)' },
        list: {
          type: 'array',
          items: { type: ['object', 'null'], additionalProperties: false },
          description: '(minItems: 2)',
        },
        one: {
          anyOf: [{ type: 'string', description: '(maxLength: 3)' }, { $ref: '#/$defs/d' }],
        },
      },
      $defs: {
        d: { properties: { x: { enum: [{ minimum: 1 }] } }, additionalProperties: false },
      },
    });
    expect(losses).toEqual(['schema_bounds']);
  });

  it('lose nothing where they are closed already, and say when they were open', () => {
    const closed = { type: 'object', properties: {}, additionalProperties: false };
    expect(claude('claude-sonnet-4-5', output(closed)).losses).toEqual([]);
    const open = claude('claude-sonnet-4-5', output({ ...closed, additionalProperties: true }));
    expect(open.body.output_config.format.schema).toEqual(closed);
    expect(open.losses).toEqual(['schema_bounds']);
    const anything = { ...closed, properties: { m: { type: 'object' } } };
    expect(claude('claude-sonnet-4-5', output(anything)).losses).toEqual(['schema_bounds']);
    const formats = {
      properties: { d: { type: 'string', format: 'date' }, n: { format: 'int64' } },
    };
    const { body } = claude('claude-sonnet-4-5', output(formats));
    expect(body.output_config.format.schema.properties).toEqual({
      d: { type: 'string', format: 'date' },
      n: { description: '(format: "int64")' },
    });
    const elsewhere = write('responses', 'gpt-5', output({ type: 'integer', minimum: 1 }));
    expect(elsewhere.body.text.format.schema).toEqual({ type: 'integer', minimum: 1 });
  });

  it('are told whole and less strictly where they are those of a tool', () => {
    const parameters = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } };
    const tools = [{ ...TOOL, strict: true, parameters }];
    const { body, losses } = claude('claude-sonnet-4-5', { tools });
    expect(body.tools[0]).toMatchObject({ strict: false, input_schema: parameters });
    expect(losses).toEqual(['strict_tools']);
    const plain = { type: 'object', properties: { n: { type: 'integer' } } };
    const kept = claude('claude-sonnet-4-5', { tools: [{ ...tools[0]!, parameters: plain }] });
    expect([kept.body.tools[0], kept.losses]).toEqual([
      { name: 'f', strict: true, input_schema: { ...plain, additionalProperties: false } },
      [],
    ]);
  });
});

describe('white space', () => {
  it('is no text and no stop sequence towards Anthropic', () => {
    const turns: Turn[] = [
      { role: 'system', parts: [{ type: 'text', text: ' ' }] },
      HI,
      { role: 'assistant', parts: [{ type: 'text', text: '\n\n' }, call('a')] },
      result('a', said('1')),
    ];
    const { body, losses } = claude('claude-opus-4-5', { turns, stop: ['\n', 'END'] });
    expect(body).not.toHaveProperty('system');
    expect(body.messages[1].content.map(({ type }: { type: string }) => type)).toEqual([
      'tool_use',
    ]);
    expect([body.stop_sequences, losses]).toEqual([['END'], ['stop_sequences']]);
    expect(claude('claude-opus-4-5', { stop: ['\n'] }).body).not.toHaveProperty('stop_sequences');
    const silent: Turn[] = [
      HI,
      { role: 'assistant', parts: said('yo') },
      { role: 'user', parts: said(' ') },
    ];
    const asked = claude('claude-opus-4-5', { turns: silent }).body.messages;
    expect(asked.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user']);
    const mixed = [...turns.slice(0, 3), result('a', [...said('x'), ...said(' \n')])];
    const sent = claude('claude-opus-4-5', { turns: mixed }).body.messages.at(-1);
    expect(sent.content[0].content).toBe('x');
    const chat = write('chat', 'gpt-4o', { turns, stop: ['\n'] });
    expect([chat.body.stop, chat.body.messages[0].content]).toEqual([['\n'], ' ']);
  });
});

describe('Gemini', () => {
  it('gets a choice among tools only beside tools', () => {
    const { body, losses } = gemini('gemini-2.5-flash', { toolChoice: 'auto' });
    expect(body).not.toHaveProperty('toolConfig');
    expect(losses).toEqual(['tool_choice']);
    const chosen = gemini('gemini-2.5-flash', { toolChoice: 'auto', tools: [TOOL] });
    expect(chosen.body.toolConfig).toEqual({ functionCallingConfig: { mode: 'AUTO' } });
  });

  it('gets no penalties from 2.5 on, but for zero', () => {
    const asked = { frequencyPenalty: 0.2, presencePenalty: 0 };
    const { body, losses } = gemini('gemini-2.5-flash', asked);
    expect(body.generationConfig).toMatchObject({ presencePenalty: 0 });
    expect(body.generationConfig).not.toHaveProperty('frequencyPenalty');
    expect(losses).toEqual(['frequency_penalty']);
    expect(gemini('gemini-2.0-flash', asked).losses).toEqual([]);
  });

  it('is asked for functions or for JSON, and for both from 3 on', () => {
    const schema = { type: 'object' };
    for (const [output, loss] of [
      [{ type: 'json' }, 'json_output'],
      [{ type: 'schema', schema }, 'schema_output'],
    ] as const) {
      const both = { tools: [TOOL], output };
      const { body, losses } = gemini('gemini-2.5-flash', both);
      expect(body).not.toHaveProperty('generationConfig');
      expect(losses).toEqual([loss]);
      const newer = gemini('gemini-3-flash-preview', both);
      expect(newer.body.generationConfig.responseMimeType).toBe('application/json');
      expect(newer.losses).toEqual([]);
      expect(gemini('gemini-2.5-flash', { output }).losses).toEqual([]);
    }
  });
});
