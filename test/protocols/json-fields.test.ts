import { expect, it } from 'vitest';
import { readNumber, requireObject } from '../../src/protocols/json-fields.ts';

it('takes null for absent and refuses other types by the path of the field', () => {
  expect(readNumber(null, 'seed')).toBeUndefined();
  expect(readNumber(1, 'seed')).toBe(1);
  const refusal = { code: 'invalid_request', param: 'tools[0]' };
  expect(() => requireObject(null, 'tools[0]')).toThrow(expect.objectContaining(refusal));
});

it('refuses numbers that are too large to be one', () => {
  const refusal = { code: 'invalid_request', param: 'max_output_tokens' };
  const { limit } = JSON.parse('{"limit":1e999}') as { limit: number };
  expect(() => readNumber(limit, 'max_output_tokens')).toThrow(expect.objectContaining(refusal));
});
