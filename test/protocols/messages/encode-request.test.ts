import fc from 'fast-check';
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

function encode(fields: Partial<CanonicalRequest>, model = TARGET.model) {
  const request = { turns: [user(text('hi'))], tools: [], stream: false, unmapped: [], ...fields };
  const { value, losses } = encodeRequest(messagesCodec, request, { ...TARGET, model });
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

  it('leaves system texts behind the user, for a model that takes them there', () => {
    const system = (one: string): Turn => ({ role: 'developer', parts: [text(one)] });
    const assistant: Turn = { role: 'assistant', parts: [call('a')] };
    const looked: Turn = { role: 'tool', parts: [result('a', 'seen')] };
    const said = [system('one'), user(text('hi')), system('two'), user(text('there'))];
    const turns = [...said, assistant, system('three'), looked, system('four')];
    const { body } = encode({ turns }, 'claude-opus-4-8');
    expect(body.system).toBe('one');
    const roles = body.messages.map(({ role }: { role: string }) => role);
    expect(roles).toEqual(['user', 'user', 'system', 'assistant', 'user', 'system']);
    expect(body.messages[2].content).toBe('two');
    expect(body.messages[5].content).toEqual([
      { type: 'text', text: 'three' },
      { type: 'text', text: 'four' },
    ]);
    const before = encode({ turns: said }, 'claude-opus-4-8').body;
    expect(body.messages.slice(0, 3)).toEqual(before.messages);
    const older = encode({ turns }, 'claude-opus-4-7').body;
    expect(older.system).toHaveLength(4);
    expect(older.messages).toHaveLength(4);
  });

  it('puts a system text nowhere but between a user and the assistant', () => {
    const turn = fc.constantFrom<Turn>(
      user(text('hi')),
      { role: 'system', parts: [text('be brief')] },
      { role: 'assistant', parts: [text('well')] },
      { role: 'assistant', parts: [{ type: 'reasoning', text: 'unsigned' }] },
      { role: 'tool', parts: [result('a', 'seen')] },
    );
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 12 }), (turns) => {
        const { body } = encode({ turns }, 'claude-opus-5');
        const roles: string[] = body.messages.map(({ role }: { role: string }) => role);
        roles.forEach((role, at) => {
          if (role !== 'system') return;
          expect(roles[at - 1]).toBe('user');
          expect([undefined, 'assistant']).toContain(roles[at + 1]);
        });
        const isSystem = ({ role }: Turn): boolean => role === 'system';
        const given = JSON.stringify(body).split('be brief').length - 1;
        expect(given).toBe(turns.filter(isSystem).length);
      }),
    );
  });

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
    expect(tierOf('on_demand')).toBeUndefined();
    const lost = ['auto', 'priority', 'default', 'flex', 'on_demand'].filter(
      (serviceTier) => encode({ serviceTier }).losses.length > 0,
    );
    expect(lost).toEqual(['flex', 'on_demand']);
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
