import { describe, expect, it } from 'vitest';
import type { StrictVendor } from '../../../../src/providers/mock/strict/strict-vendors.ts';
import { startMockServer } from '../../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../../requirements.ts';
import {
  REFUSED,
  refusal,
  user,
  tool,
  calls,
  result,
  used,
  told,
  part,
  reply,
  say,
} from './cases.ts';
import type { Body } from './cases.ts';

/** Nothing is refused of a usual conversation with parallel calls. */
const TAKEN: Record<StrictVendor, Body> = {
  openai: { tools: [tool('f')], messages: [user, calls('a', 'b'), result('b'), result('a')] },
  anthropic: { tools: [{ name: 'f' }], messages: [user, used('a', 'b'), told('a', 'b')] },
  google: {
    model: 'gemini-3-pro',
    tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT' } }] }],
    contents: [
      say,
      { role: 'model', parts: [part('f', { thoughtSignature: 's' }), part('f')] },
      { role: 'user', parts: [reply('f'), reply('f')] },
    ],
  },
  mistral: { messages: [{ role: 'system' }, user, calls('abcdefgh1'), result('abcdefgh1')] },
  groq: { messages: [user, { role: 'assistant', content: 'a', reasoning: 'b' }, user] },
  deepseek: {
    model: 'deepseek-v4-pro',
    messages: [user, { ...calls('a'), reasoning_content: 'b' }, result('a')],
  },
  moonshot: {
    model: 'kimi-k2.6',
    thinking: { type: 'disabled' },
    messages: [user, calls('a'), result('a')],
  },
  llamacpp: { messages: [{ role: 'system', content: 'a' }, user] },
};

describe('a strict upstream', () => {
  it.each(REFUSED)(verifies('mock.strict', '%s says %s'), (...[vendor, words, body, protocol]) => {
    expect(refusal(vendor, body, protocol)).toMatch(words);
  });

  it.each(Object.entries(TAKEN))(
    verifies('mock.strict', '%s takes a usual conversation'),
    (vendor, body) => {
      expect(refusal(vendor as StrictVendor, body)).toBeUndefined();
    },
  );

  it(verifies('mock.strict', 'refuses in the shape of the protocol, with 400'), async () => {
    const mock = await startMockServer({ cassette: { strict: 'anthropic' } });
    const ask = (content: string): Promise<Response> =>
      fetch(`${mock.url}/v1/messages`, {
        method: 'POST',
        body: JSON.stringify({
          model: 'claude',
          max_tokens: 1,
          messages: [{ role: 'user', content }],
        }),
      });
    const refused = await ask('');
    expect(refused.status).toBe(400);
    const message = expect.stringContaining('non-empty content') as string;
    const error = { type: 'invalid_request_error', message };
    expect(await refused.json()).toEqual({ type: 'error', error });
    expect((await ask('hi')).status).toBe(200);
    await mock.close();
  });
});
