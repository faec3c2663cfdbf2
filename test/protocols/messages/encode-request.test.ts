import { describe, expect, it } from 'vitest';
import type { CanonicalRequest, Part, Turn } from '../../../src/protocols/canonical/canonical.ts';
import { messagesCodec } from '../../../src/protocols/messages/codec/messages-codec.ts';
import { verifies } from '../../requirements.ts';
import { toText } from '../codec-laws.ts';
import { encodeRequest } from '../../support/protocols.ts';

const TARGET = { model: 'up', defaultMaxTokens: 4096, askUsage: true };
const user = (...parts: Part[]): Turn => ({ role: 'user', parts });
const text = (one: string): Part => ({ type: 'text', text: one });
const call = (id: string, args = '{}'): Part => ({
  type: 'tool_call',
  id,
  name: 'look',
  arguments: args,
});
const result = (callId: string, one: string): Part => ({
  type: 'tool_result',
  callId,
  content: [{ type: 'text', text: one }],
  isError: false,
});

function encode(fields: Partial<CanonicalRequest>) {
  const request = { turns: [user(text('hi'))], tools: [], stream: false, unmapped: [], ...fields };
  const { value, losses } = encodeRequest(messagesCodec, request, TARGET);
  const json = toText(value);
  return { json, body: JSON.parse(json), losses };
}

describe('a request written for a Messages provider', () => {
  it(
    verifies('routing.body.byte-faithful', 'begins with what stays the same between turns'),
    () => {
      const { json, body } = encode({
        turns: [{ role: 'system', parts: [text('be brief')] }, user(text('hi'))],
        tools: [{ type: 'function', name: 'look' }],
        temperature: 0.5,
        stream: true,
      });
      expect(Object.keys(body)).toEqual([
        'tools',
        'system',
        'model',
        'max_tokens',
        'temperature',
        'messages',
        'stream',
      ]);
      expect(json).toContain('"max_tokens":4096');
      expect(encode({}).body).not.toHaveProperty('temperature');
    },
  );

  it('gathers system texts, wherever they stand', () => {
    const { body } = encode({
      turns: [
        { role: 'developer', parts: [text('one')] },
        user(text('hi')),
        { role: 'system', parts: [{ type: 'text', text: 'two', cache: { ttl: '1h' } }] },
      ],
    });
    expect(body.system).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ]);
    expect(body.messages).toEqual([{ role: 'user', content: 'hi' }]);
    const alone = encode({ turns: [{ role: 'system', parts: [text('only me')] }] }).body;
    expect(alone.messages).toEqual([{ role: 'user', content: 'only me' }]);
    expect(alone).not.toHaveProperty('system');
  });

  it('puts all results of one round, and what the user says to them, into one message', () => {
    const { body } = encode({
      turns: [
        user(text('hi')),
        { role: 'assistant', parts: [call('a'), call('b')] },
        { role: 'tool', parts: [result('a', 'rain')] },
        { role: 'tool', parts: [result('b', 'sun')] },
        user(text('and?')),
        user(text('well?')),
      ],
    });
    expect(body.messages.slice(2)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'rain' },
          { type: 'tool_result', tool_use_id: 'b', content: 'sun' },
          { type: 'text', text: 'and?' },
        ],
      },
      { role: 'user', content: 'well?' },
    ]);
  });

  it('keeps arguments as they are spelled, and says when they are none', () => {
    const { json, losses } = encode({
      turns: [
        user(text('hi')),
        { role: 'assistant', parts: [call('a', '{ "n": 1.0, "big": 1152921504606846977 }')] },
      ],
    });
    expect(json).toContain('"input":{ "n": 1.0, "big": 1152921504606846977 }');
    expect(losses).toEqual([]);
    const cut = encode({
      turns: [user(text('hi')), { role: 'assistant', parts: [call('a', '{"n": ')] }],
    });
    expect(cut.body.messages[1].content[0].input).toEqual({});
    expect(cut.losses).toEqual(['tool_arguments']);
  });

  it('gives calls ids that providers accept, the same for their results', () => {
    const { body } = encode({
      turns: [
        user(text('hi')),
        { role: 'assistant', parts: [call('functions.look:0')] },
        { role: 'tool', parts: [result('functions.look:0', 'rain')] },
      ],
    });
    const [, asked, told] = body.messages;
    expect(asked.content[0].id).toMatch(/^[\w-]+$/);
    expect(told.content[0].tool_use_id).toBe(asked.content[0].id);
  });

  it('leaves out what providers refuse: empty texts and reasoning of others', () => {
    const foreign: Part = {
      type: 'reasoning',
      text: 'hm',
      signature: { origin: 'responses', value: 'x' },
    };
    const { json, body, losses } = encode({
      turns: [
        user(text(''), text('so?')),
        {
          role: 'assistant',
          parts: [foreign, { type: 'reasoning', text: 'unsigned' }, text('yes')],
        },
      ],
    });
    expect(body.messages).toEqual([
      { role: 'user', content: 'so?' },
      { role: 'assistant', content: 'yes' },
    ]);
    expect(json).not.toContain('hm');
    expect(losses).toEqual(['reasoning_signatures']);
  });

  it.each([
    { asked: { effort: 'high' }, thinking: { type: 'adaptive' }, effort: 'high' },
    { asked: { effort: 'minimal' }, thinking: { type: 'adaptive' }, effort: 'low' },
    { asked: { effort: 'none' }, thinking: { type: 'disabled' } },
    { asked: { enabled: false }, thinking: { type: 'disabled' } },
    { asked: { budgetTokens: 2000 }, thinking: { type: 'enabled', budget_tokens: 2000 } },
    { asked: { budgetTokens: 9000 }, thinking: { type: 'enabled', budget_tokens: 3072 } },
    { asked: { budgetTokens: 10 }, thinking: { type: 'enabled', budget_tokens: 1024 } },
    { asked: { show: true }, thinking: { type: 'adaptive', display: 'summarized' } },
  ])('asks for reasoning as $thinking for $asked', ({ asked, thinking, effort }) => {
    const { body } = encode({ reasoning: asked });
    expect(body.thinking).toEqual(thinking);
    expect(body.output_config?.effort).toBe(effort);
  });

  it('does not think where there is no room for it', () => {
    const { body } = encode({ reasoning: { budgetTokens: 2000 }, maxOutputTokens: 500 });
    expect([body.thinking, body.max_tokens]).toEqual([{ type: 'disabled' }, 500]);
  });

  it('takes the heat out of temperatures', () => {
    const { body, losses } = encode({ temperature: 1.7 });
    expect([body.temperature, losses]).toEqual([1, ['temperature_above_1']]);
  });

  it('knows two tiers of service', () => {
    const tierOf = (serviceTier: string) => encode({ serviceTier }).body.service_tier;
    expect(['auto', 'priority', 'default', 'flex'].map(tierOf)).toEqual([
      'auto',
      'auto',
      'standard_only',
      'standard_only',
    ]);
  });

  it('names what it has no words for', () => {
    const { losses } = encode({
      turns: [
        {
          role: 'user',
          name: 'Ada',
          parts: [{ type: 'audio', mediaType: 'audio/wav', data: 'AA==' }],
        },
        user({ type: 'text', text: 'x', citations: [{ url: 'https://example.com' }] }),
      ],
      tools: [{ type: 'opaque', origin: 'responses', value: { type: 'web_search' } }],
      seed: 1,
      output: { type: 'json' },
    });
    expect([...losses].sort()).toEqual([
      'audio',
      'builtin_tools',
      'citations',
      'json_output',
      'participant_names',
      'seed',
    ]);
  });
});
