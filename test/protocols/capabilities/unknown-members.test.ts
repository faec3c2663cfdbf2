import { describe, expect, it } from 'vitest';
import { MISTRAL_API } from '../../../src/protocols/capabilities/open-models.ts';
import type { Capabilities } from '../../../src/protocols/capabilities/capabilities.ts';
import { verifies } from '../../requirements.ts';
import { encodeOptions } from '../../support/protocols.ts';
import { wireTo } from '../spoken.ts';
import { peekOf, rowOf } from '../translating.ts';
import type { Spoken } from '../translating.ts';

function sent(client: Spoken, body: object, capabilities: Partial<Capabilities>) {
  const losses: string[] = [];
  const wire = wireTo(rowOf(client).protocol, 'chat');
  const bytes = wire.encode(peekOf(client, body), encodeOptions({ losses, capabilities }));
  return { body: JSON.parse(bytes.toString()), losses };
}

const HELLO = { role: 'user', content: 'hi' };
const REFUSED = {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'refusal', refusal: 'no' }],
};
const UNSIGNED = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] };

describe('members that a vendor refuses', () => {
  it(verifies('capabilities.unknown-members', 'are left out and named'), () => {
    const body = {
      input: [HELLO, UNSIGNED, REFUSED, HELLO],
      user: 'u',
      service_tier: 'flex',
      top_logprobs: 2,
      include: ['message.output_text.logprobs'],
      text: { verbosity: 'low' },
      tools: [{ type: 'function', name: 'f' }],
    };
    const { body: taken, losses } = sent('responses', body, MISTRAL_API.takes);
    expect(Object.keys(taken).sort()).toEqual(['messages', 'model', 'tools']);
    expect(taken.messages[1]).toEqual({ role: 'assistant', content: 'no' });
    expect(taken.tools[0].function.parameters).toEqual({ type: 'object', properties: {} });
    expect(losses.sort()).toEqual(
      [
        'top_logprobs',
        'reasoning.encrypted_content',
        'service_tier',
        'text.verbosity',
        'user',
      ].sort(),
    );
    const all = sent('responses', body, {}).body;
    expect(all).toMatchObject({
      user: 'u',
      service_tier: 'flex',
      verbosity: 'low',
      logprobs: true,
    });
    expect(all.messages[1]).toMatchObject({ refusal: 'no', reasoning_content: 'hm' });
  });

  it(
    verifies('capabilities.unknown-members', 'leave temperatures and seeds within its bounds'),
    () => {
      const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
      const generationConfig = { temperature: 2, seed: -3 };
      const bounded = sent('generate-content', { contents, generationConfig }, MISTRAL_API.takes);
      expect(bounded.body).toMatchObject({ temperature: 1.5, seed: 3 });
      expect(bounded.losses).toEqual(['generationConfig.temperature']);
    },
  );
});
