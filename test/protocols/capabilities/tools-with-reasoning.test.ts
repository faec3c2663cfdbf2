import { describe, expect, it } from 'vitest';
import {
  capabilitiesAt,
  capabilitiesOf,
} from '../../../src/protocols/capabilities/capabilities-of.ts';
import { toModelRequest } from '../../../src/runtime/model/model-request.ts';
import type { CanonicalRequest } from '../../../src/protocols/canonical/canonical.ts';
import { encodeRequest } from '../../support/protocols.ts';
import { toText } from '../codec-laws.ts';
import { CODECS } from '../spoken.ts';
import { verifies } from '../../requirements.ts';
import { writeTo } from './write-to.ts';

const TOOL = { type: 'function', name: 'f', parameters: { type: 'object' } } as const;

/** A translated request as a provider gets it that speaks only chat. */
function toChat(model: string, fields: Partial<CanonicalRequest>) {
  const codec = CODECS.find(({ id }) => id === 'chat')!;
  const request: CanonicalRequest = {
    turns: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    tools: [TOOL],
    stream: false,
    unmapped: [],
    ...fields,
  };
  const { value, losses } = encodeRequest(codec, request, {
    model,
    defaultMaxTokens: 8192,
    askUsage: false,
    capabilities: capabilitiesAt('openai', model),
  });
  return { effort: JSON.parse(toText(value)).reasoning_effort, losses };
}

describe('a translated request with function tools for a route of chat alone', () => {
  it(
    verifies('capabilities.tools-with-reasoning', 'asks for no reasoning, and names what is lost'),
    () => {
      const high = { reasoning: { effort: 'high' } };
      expect(toChat('gpt-5.6-sol', high)).toEqual({ effort: 'none', losses: ['reasoning'] });
      expect(toChat('gpt-5.6-sol', {})).toEqual({ effort: 'none', losses: ['reasoning'] });
      expect(toChat('gpt-5.4', high)).toEqual({ effort: 'none', losses: ['reasoning'] });
      expect(toChat('gpt-5.4', {})).toEqual({ effort: undefined, losses: [] });
      expect(toChat('gpt-5.6-sol', { reasoning: { enabled: false } })).toEqual({
        effort: 'none',
        losses: [],
      });
      expect(toChat('gpt-5.6-sol', { ...high, tools: [] })).toEqual({ effort: 'high', losses: [] });
    },
  );

  it(
    verifies('capabilities.tools-with-reasoning', 'passes over a model that always reasons'),
    () => {
      expect(() => toChat('gpt-6-astra', {})).toThrow(
        expect.objectContaining({
          code: 'unsupported_feature',
          message: expect.stringContaining('responses alone; add it to `protocols`'),
        }),
      );
    },
  );
});

it(
  verifies('capabilities.tools-with-reasoning', 'another effort than the one asked for is named'),
  () => {
    const to = (protocol: 'chat' | 'responses', model: string, effort: string) => {
      const { body, losses } = writeTo(protocol, model, { reasoning: { effort } });
      return [body.reasoning_effort ?? body.reasoning?.effort, losses];
    };
    expect(to('responses', 'gpt-5.6-luna', 'max')).toEqual(['max', []]);
    expect(to('responses', 'gpt-5.5', 'max')).toEqual(['xhigh', ['reasoning']]);
    expect(to('chat', 'gpt-6.1-sol', 'max')).toEqual(['xhigh', ['reasoning']]);
    expect(to('responses', 'gpt-6.1-sol', 'max')).toEqual(['max', []]);
    expect(to('responses', 'gpt-6-astra', 'none')).toEqual(['low', ['reasoning']]);
    expect(to('responses', 'gpt-6.1-sol', 'minimal')).toEqual(['low', ['reasoning']]);
  },
);

it(
  verifies(
    'capabilities.tools-with-reasoning',
    'sampling gives way to reasoning that a model does unasked',
  ),
  () => {
    const temperature = 0.2;
    const lost = (model: string, reasoning?: { effort: string }) =>
      writeTo('responses', model, { temperature, ...(reasoning && { reasoning }) }).losses;
    expect(lost('gpt-5.4')).toEqual([]);
    expect(lost('gpt-5.5')).toEqual(['temperature']);
    expect(lost('gpt-5.6-terra')).toEqual(['temperature']);
    expect(lost('gpt-5.6-terra', { effort: 'none' })).toEqual([]);
    expect(lost('gpt-6-astra')).toEqual(['temperature']);
  },
);

it(
  verifies(
    'current.no-none',
    'no model that always reasons is sent the effort none, and the change is named',
  ),
  async () => {
    const models = [
      'o3',
      'gpt-5-mini',
      'gpt-5.2-pro',
      'gpt-5.2-codex',
      'gpt-6.1-sol',
      'gpt-6-astra',
    ];
    const tool = { type: 'function', name: 'f', parameters: { type: 'object' } } as const;
    for (const model of models)
      for (const protocol of ['chat', 'responses'] as const) {
        const { efforts } = capabilitiesOf(protocol, model);
        for (const reasoning of [{ effort: 'none' }, { enabled: false }, { budgetTokens: 0 }])
          for (const tools of [[], [tool]]) {
            const { body, losses } = writeTo(protocol, model, { reasoning, tools });
            const effort = body.reasoning_effort ?? body.reasoning?.effort;
            expect([model, protocol, effort, losses]).toEqual([
              model,
              protocol,
              efforts?.[0],
              ['reasoning'],
            ]);
            expect(effort).not.toBe('none');
          }
      }
  },
);

it(
  verifies('current.no-none', 'an Agent reaches a model with the nearest effort that it has'),
  async () => {
    const asked = async (model: string, type: 'low' | 'max') => {
      const parts = { instructions: '', entries: [], tools: [TOOL], files: new Map() as never };
      const request = await toModelRequest({ ...parts, model: { id: 'm', effort: { type } } });
      const { body, losses } = writeTo('responses', model, { ...request, stream: false });
      return [body.reasoning.effort, losses];
    };
    expect(await asked('gpt-6-astra', 'low')).toEqual(['low', []]);
    expect(await asked('gpt-6-astra', 'max')).toEqual(['max', []]);
    expect(await asked('gpt-5.2-pro', 'low')).toEqual(['medium', ['reasoning']]);
  },
);
