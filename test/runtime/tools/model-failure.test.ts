import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { toModelFailure } from '../../../src/runtime/tools/model-failure.ts';

const isTooLong = (message: string, status = 400): boolean =>
  toModelFailure(new GatewayError('upstream_rejected', { status, message })).isTooLong;

describe('a refused model request', () => {
  it.each([
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
    'Your input exceeds the context window of this model.',
    'prompt is too long: 210000 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
    'Input is too long for requested model.',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    'request (4548 tokens) exceeds the available context size (4096 tokens), try increasing it',
    "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
    'Please reduce the length of the messages or completion.',
    'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
    'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
    'too many tokens: size limit exceeded by 200 tokens',
  ])('is about a conversation that is too long: %s', (message) => {
    expect(isTooLong(message)).toBe(true);
    expect(isTooLong(message, 422)).toBe(false);
  });

  it.each([
    'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens',
    'max_tokens is too large: 100000. This model supports at most 16384 completion tokens.',
    'Please reduce the length of the tool names',
    'the name of the tool is too long',
    'messages.0.content.1.image.source.base64: image exceeds the maximum size of 5 MB',
  ])('is about something else: %s', (message) => {
    expect(isTooLong(message)).toBe(false);
  });

  it('is about a conversation that is too long where its code says so', () => {
    const options = { message: 'bad request', providerCode: 'context_length_exceeded' };
    expect(toModelFailure(new GatewayError('upstream_rejected', options)).isTooLong).toBe(true);
  });

  it('is too long where it has too many bytes', () => {
    expect(isTooLong('Request exceeds the maximum size', 413)).toBe(true);
  });
});
