import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { generateContent } from '../../../src/protocols/generate-content/generate-content.ts';
import { toSignatureText } from '../../../src/protocols/canonical/reasoning-token.ts';
import { verifies } from '../../requirements.ts';
import { encodeOptions } from '../../support/protocols.ts';
import { translate } from '../translating.ts';

const ONE = {
  contents: { role: 'user', parts: { text: 'hi' } },
  tools: { function_declarations: { name: 'f', description: 'd' } },
  system_instruction: { parts: { text: 'be brief' } },
  generation_config: { max_output_tokens: 99 },
};
const ADDRESS = { model: 'acme/m', operation: 'generateContent' };

describe('objects in place of lists', () => {
  it(
    verifies('gencontent.native.lenient', 'reach a native provider byte for byte, in either case'),
    () => {
      const body = Buffer.from(JSON.stringify(ONE));
      const sent = generateContent.encode(generateContent.peek(body, ADDRESS), encodeOptions());
      expect(String(sent)).toBe(String(body));
    },
  );

  it('lose what another provider signed, as lists do', () => {
    const thoughtSignature = toSignatureText({ origin: 'chat', value: 'x' }, 'generate-content');
    const contents = { role: 'model', parts: { text: 'hi', thoughtSignature } };
    const body = Buffer.from(JSON.stringify({ contents }));
    const sent = generateContent.encode(generateContent.peek(body, ADDRESS), encodeOptions());
    expect(JSON.parse(String(sent))).toEqual({
      contents: [{ role: 'model', parts: [{ text: 'hi' }] }],
    });
  });

  it('are translated as a list of one', () => {
    const { body, losses } = translate('generate-content', ONE, 'chat');
    expect(body).toMatchObject({
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'hi' },
      ],
      tools: [{ type: 'function', function: { name: 'f', description: 'd' } }],
      max_completion_tokens: 99,
    });
    expect(losses).toEqual([]);
  });

  it.each([{ contents: 'hi' }, { contents: { parts: 1 } }, { tools: true }])(
    'are no excuse for anything else: %j',
    (request) => {
      const body = Buffer.from(JSON.stringify(request));
      expect(() => generateContent.peek(body, ADDRESS)).toThrow(/must be an array/);
    },
  );
});
