import { describe, expect, it } from 'vitest';
import type { Protocol } from '../../../src/protocols/registry.ts';
import type { CanonicalRequest } from '../../../src/protocols/canonical/canonical.ts';
import { verifies } from '../../requirements.ts';
import { writeTo as write } from './write-to.ts';

const TOOL = { type: 'function', name: 'f' } as const;

const messages = (model: string, fields: Partial<CanonicalRequest>) =>
  write('messages', model, fields);

describe('a conversation that ends with the assistant', () => {
  const said = (text: string) => [
    { role: 'user', parts: [{ type: 'text', text: 'Tell a story.' }] } as const,
    { role: 'assistant', parts: [{ type: 'text', text }] } as const,
  ];

  it(
    verifies(
      'capabilities.assistant-last',
      'goes on by a turn of the user from Claude 4.6 on, and else without blanks at its end',
    ),
    () => {
      for (const model of ['claude-opus-4-6', 'claude-sonnet-4-6', 'claude-opus-4-8']) {
        const { body } = messages(model, { turns: said('Once upon') });
        expect(body.messages.map(({ role }: { role: string }) => role)).toEqual([
          'user',
          'assistant',
          'user',
        ]);
        expect(JSON.stringify(body.messages.at(-1).content)).toContain('Continue.');
      }
      const older = messages('claude-haiku-4-5', { turns: said('Once upon \n') }).body;
      expect(older.messages).toHaveLength(2);
      expect(JSON.stringify(older.messages.at(-1).content)).toContain('"Once upon"');
      const other = write('chat', 'someone/unknown', { turns: said('Once upon \n') }).body;
      expect(other.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Once upon \n' });
    },
  );
});

describe('reasoning asked of Claude', () => {
  it(
    verifies(
      'capabilities.thinking.budget-only',
      'is a budget before 4.6, and an effort beside it from Opus 4.5 on',
    ),
    () => {
      for (const model of ['claude-haiku-4-5', 'claude-sonnet-4-5-20250929', 'claude-opus-4-1']) {
        const { body, losses } = messages(model, { reasoning: { effort: 'low' } });
        expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 1024 });
        expect(body).not.toHaveProperty('output_config');
        expect(losses).toEqual([]);
      }
      const { body } = messages('claude-opus-4-5', { reasoning: { effort: 'xhigh' } });
      expect(body.thinking.type).toBe('enabled');
      expect(body.output_config).toEqual({ effort: 'high' });
    },
  );

  it(
    verifies(
      'capabilities.thinking.adaptive-only',
      'is adaptive from Opus 4.7 and Sonnet 5 on, without any sampling',
    ),
    () => {
      for (const model of ['claude-opus-4-7', 'claude-opus-4-8', 'claude-sonnet-5']) {
        const { body, losses } = messages(model, {
          reasoning: { budgetTokens: 2000 },
          temperature: 0.5,
          topP: 0.99,
        });
        expect(body.thinking).toEqual({ type: 'adaptive' });
        expect(body.output_config).toEqual({ effort: 'low' });
        expect(body).not.toHaveProperty('temperature');
        expect(body).not.toHaveProperty('top_p');
        expect(losses).toEqual(['temperature', 'top_p']);
        const plain = messages(model, { temperature: 1, topP: 0.99 });
        expect(plain.losses).toEqual(['temperature', 'top_p']);
      }
    },
  );

  it(
    verifies(
      'capabilities.thinking.excludes-sampling',
      'takes the place of a temperature, of top k and of a small top p, which are named',
    ),
    () => {
      for (const model of ['claude-sonnet-4-5', 'claude-opus-4-6', 'someone/unknown']) {
        const asked = { reasoning: { effort: 'high' }, temperature: 0.3, topP: 0.5, topK: 4 };
        const { body, losses } = messages(model, asked);
        expect(body.thinking).toBeDefined();
        for (const name of ['temperature', 'top_p', 'top_k']) expect(body).not.toHaveProperty(name);
        expect(losses).toEqual(['temperature', 'top_p', 'top_k']);
      }
      const fits = messages('claude-sonnet-4', { reasoning: { effort: 'high' }, topP: 0.97 });
      expect([fits.body.top_p, fits.losses]).toEqual([0.97, []]);
      const both = messages('claude-sonnet-4-5', { temperature: 0.3, topP: 0.5 });
      expect([both.body.temperature, both.body.top_p, both.losses]).toEqual([
        0.3,
        undefined,
        ['top_p'],
      ]);
      const freed = messages('claude-sonnet-4-5', {
        reasoning: { effort: 'high' },
        temperature: 0.3,
        topP: 0.97,
      });
      expect([freed.body.top_p, freed.losses]).toEqual([0.97, ['temperature']]);
      const usual = messages('claude-opus-4-6', { reasoning: { effort: 'low' }, temperature: 1 });
      expect([usual.body.temperature, usual.losses]).toEqual([1, []]);
      const old = messages('claude-3-5-haiku', { temperature: 0.3, topP: 0.5 });
      expect(old.losses).toEqual([]);
    },
  );

  it(
    verifies('capabilities.thinking.forced-tool', 'gives way to a tool that is forced, named'),
    () => {
      for (const toolChoice of ['required', { name: 'f' }] as const) {
        for (const model of ['claude-sonnet-4-5', 'claude-opus-4-8']) {
          const asked = { reasoning: { effort: 'high' }, tools: [TOOL], toolChoice };
          const { body, losses } = messages(model, asked);
          expect(body.thinking).toEqual({ type: 'disabled' });
          expect(body).not.toHaveProperty('output_config');
          expect(['any', 'tool']).toContain(body.tool_choice.type);
          expect(losses).toEqual(['reasoning']);
        }
      }
      const free = messages('claude-opus-4-8', { reasoning: { effort: 'high' }, tools: [TOOL] });
      expect(free.body.thinking).toEqual({ type: 'adaptive' });
    },
  );

  it(
    verifies('capabilities.thinking.leaves-answer', 'leaves a quarter of the tokens to the answer'),
    () => {
      const asked = { reasoning: { effort: 'high' }, maxOutputTokens: 4000 };
      const { body } = messages('claude-sonnet-4-5', asked);
      expect(body.thinking.budget_tokens).toBe(3000);
      const small = messages('claude-sonnet-4-5', { ...asked, maxOutputTokens: 1200 });
      expect([small.body.thinking, small.losses]).toEqual([{ type: 'disabled' }, ['reasoning']]);
      const gemini = write('generate-content', 'gemini-2.5-flash', {
        ...asked,
        maxOutputTokens: 100,
      });
      expect(gemini.body.generationConfig.thinkingConfig).toEqual({ thinkingBudget: 75 });
    },
  );
});

describe('a wish for no reasoning', () => {
  it(
    verifies('capabilities.thinking.off', 'reaches every protocol, however the client said it'),
    () => {
      for (const reasoning of [{ enabled: false }, { effort: 'none' }, { budgetTokens: 0 }]) {
        const to = (protocol: Protocol, model = 'unknown') => write(protocol, model, { reasoning });
        expect(to('chat').body.reasoning_effort).toBe('none');
        expect(to('responses').body.reasoning).toEqual({ effort: 'none' });
        expect(to('messages').body.thinking).toEqual({ type: 'disabled' });
        expect(to('messages', 'claude-opus-4-8').body.thinking).toEqual({ type: 'disabled' });
        const { body } = to('generate-content', 'gemini-2.5-flash');
        expect(body.generationConfig.thinkingConfig).toEqual({ thinkingBudget: 0 });
        // What never reasons needs no word about it.
        expect(to('chat', 'gpt-4o').body).not.toHaveProperty('reasoning_effort');
      }
    },
  );

  it('becomes the least that a model does that always reasons, and is named', () => {
    const reasoning = { enabled: false };
    const o3 = write('chat', 'o3', { reasoning });
    expect([o3.body.reasoning_effort, o3.losses]).toEqual(['low', ['reasoning']]);
    const gpt5 = write('responses', 'gpt-5', { reasoning });
    expect([gpt5.body.reasoning, gpt5.losses]).toEqual([{ effort: 'minimal' }, ['reasoning']]);
    const gemini = write('generate-content', 'gemini-2.5-pro', { reasoning });
    expect(gemini.body.generationConfig.thinkingConfig).toEqual({ thinkingBudget: 128 });
    expect(gemini.losses).toEqual(['reasoning']);
  });

  it(
    verifies(
      'capabilities.thinking.include-thoughts',
      'is not made of a wish to see none, nor is that a wish to reason',
    ),
    () => {
      const reasoning = { show: false };
      expect(messages('claude-opus-4-8', { reasoning }).body).not.toHaveProperty('thinking');
      expect(write('chat', 'x', { reasoning }).body).not.toHaveProperty('reasoning_effort');
      expect(write('responses', 'x', { reasoning }).body).not.toHaveProperty('reasoning');
    },
  );
});

describe('odd efforts', () => {
  it(
    verifies(
      'capabilities.thinking.odd-efforts',
      'become the nearest that a model takes, and `default` is as much as the model likes',
    ),
    () => {
      const to = (protocol: Protocol, model: string, effort: string) =>
        write(protocol, model, { reasoning: { effort } });
      expect(to('chat', 'o3', 'xhigh').body.reasoning_effort).toBe('high');
      expect(to('chat', 'o3', 'minimal').body.reasoning_effort).toBe('low');
      expect(to('chat', 'gpt-5.2', 'max').body.reasoning_effort).toBe('xhigh');
      expect(to('messages', 'claude-opus-4-6', 'xhigh').body.output_config.effort).toBe('high');
      expect(to('messages', 'claude-opus-4-8', 'minimal').body.output_config.effort).toBe('low');
      const opus = to('messages', 'claude-opus-4-8', 'default').body;
      expect([opus.thinking, opus.output_config]).toEqual([{ type: 'adaptive' }, undefined]);
      const thinkingOf = (effort: string) =>
        to('generate-content', 'gemini-3-pro', effort).body.generationConfig?.thinkingConfig;
      expect(thinkingOf('default')).toEqual({ thinkingBudget: -1 });
      expect(to('chat', 'gpt-5.1', 'default').body.reasoning_effort).toBe('medium');
      expect(thinkingOf('xhigh')).toEqual({ thinkingLevel: 'HIGH' });
      expect(to('messages', 'claude-3-5-haiku', 'high').losses).toEqual(['reasoning']);
      expect(to('chat', 'o3', 'enormous').losses).toEqual(['reasoning']);
    },
  );
});

describe('sampling of models that always reason', () => {
  it('is left out and named, and kept where reasoning is off', () => {
    const sampling = {
      temperature: 0.2,
      topP: 0.5,
      presencePenalty: 1,
      frequencyPenalty: 1,
      logprobs: 2,
    };
    const gpt5 = write('chat', 'gpt-5-mini', sampling);
    const names = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logprobs'];
    for (const name of names) expect(gpt5.body).not.toHaveProperty(name);
    expect(gpt5.losses).toEqual(names);
    expect(write('chat', 'gpt-5.1', sampling).losses).toEqual([]);
    expect(write('chat', 'gpt-5.1', { ...sampling, reasoning: { effort: 'low' } }).losses).toEqual(
      names,
    );
    expect(write('chat', 'gpt-4o', sampling).losses).toEqual([]);
  });
});

describe('output tokens', () => {
  it(
    verifies('capabilities.max-output.minimum', 'are raised to the least that is taken, named'),
    () => {
      const { body, losses } = write('responses', 'gpt-4o', { maxOutputTokens: 5 });
      expect([body.max_output_tokens, losses]).toEqual([16, ['max_tokens']]);
      expect(write('responses', 'gpt-4o', { maxOutputTokens: 16 }).losses).toEqual([]);
    },
  );
});
