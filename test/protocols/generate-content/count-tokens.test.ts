import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { countTokens } from '../../../src/protocols/generate-content/count-tokens.ts';
import { verifies } from '../../requirements.ts';
import { encodeOptions } from '../../support/protocols.ts';

const encode = (body: string): string => {
  const peek = countTokens.peek(Buffer.from(body), { model: 'acme/gem' });
  return countTokens.encode(peek, encodeOptions({ model: 'up' })).toString();
};

describe('a request to count tokens', () => {
  it.each(['generateContentRequest', 'generate_content_request'])(
    verifies('gencontent.count-tokens', "names the provider's model inside of %s"),
    (name) => {
      const inner = (model: string): string =>
        `{ "contents" : [{"parts":[{"text":"\\u00fc 1.0"}]}], "model":${model},"x":1.0 }`;
      const asked = `{ "${name}" : ${inner('"models/acme/gem"')} , "y":1.0}`;
      expect(encode(asked)).toBe(asked.replace('models/acme/gem', 'models/up'));
    },
  );

  it.each([
    '{ "contents":[{"parts":[{"text":"x"}]}], "model":"mine" }',
    '{"generateContentRequest":{"contents":[{"parts":[{"text":"x"}]}]}}',
    '{"generateContentRequest":{},"contents":[]}',
    '{"generateContentRequest":null,"contents":[]}',
  ])('stays as it is where the request inside names no model: %s', (asked) => {
    expect(encode(asked)).toBe(asked);
  });
});
