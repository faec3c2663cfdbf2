import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { scanJson } from '../../../src/core/json/json-document.ts';
import { MAX_JSON_DEPTH, MAX_JSON_MEMBERS } from '../../../src/core/json/scanner.ts';
import { verifies } from '../../requirements.ts';
import { jsonObjectText, jsonText } from '../json-text.ts';

function refusal(
  body: string | Uint8Array,
  guarded: string[] = [],
): { code: string; param: string | undefined } {
  try {
    scanJson(Buffer.from(body), guarded);
  } catch (error) {
    if (error instanceof GatewayError) return { code: error.code, param: error.param };
    throw error;
  }
  throw new Error('was accepted');
}

describe('scanJson', () => {
  it('finds every member of any object where the text has it', () => {
    fc.assert(
      fc.property(jsonObjectText, (text) => {
        const body = Buffer.from(text);
        const { value, members } = scanJson(body);
        const parsed: Record<string, unknown> = JSON.parse(text);
        expect(value).toEqual(parsed);
        expect(members.map(({ key }) => key).sort()).toEqual(Object.keys(parsed).sort());
        for (const member of members) {
          expect(JSON.parse(body.toString('utf8', member.keyStart, member.keyEnd))).toBe(
            member.key,
          );
          const own = JSON.parse(
            body.toString('utf8', member.valueStart, member.valueEnd),
          ) as unknown;
          expect(JSON.stringify(own)).toBe(JSON.stringify(parsed[member.key]));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('agrees with the parser of the language on what is a JSON object', () => {
    const mutated = fc.tuple(
      fc.oneof(jsonObjectText, jsonText),
      fc.nat(),
      fc.string({ maxLength: 2 }),
      fc.nat(2),
    );
    fc.assert(
      fc.property(mutated, ([text, at, insert, cut]) => {
        const place = at % (text.length + 1);
        const broken = text.slice(0, place) + insert + text.slice(place + cut);
        let parsed: unknown;
        try {
          parsed = JSON.parse(Buffer.from(broken).toString());
        } catch {
          parsed = undefined;
        }
        const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
        if (isObject) expect(scanJson(Buffer.from(broken)).value).toEqual(parsed);
        else expect(refusal(broken).code).toBe('invalid_json');
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    '',
    ' ',
    '[]',
    '[{"a":1}]',
    'null',
    '"{}"',
    '1',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '{"a":1}x',
    '{"a":1}{}',
    '{"a":"b',
    '{"a":[}',
    "{'a':1}",
    '{"a":1 "b":2}',
    '{"a\n":1}',
  ])(verifies('errors.invalid-json', 'refuses %j as not a JSON object'), (text) => {
    expect(refusal(text).code).toBe('invalid_json');
  });

  it('refuses a byte order mark and bytes that are not UTF-8', () => {
    expect(refusal('\uFEFF{"a":1}').code).toBe('invalid_json');
    expect(refusal(Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])).code).toBe(
      'invalid_json',
    );
  });

  it.each([
    '{"model":"a","model":"b"}',
    '{"model":"a","x":{"y":[1]},"model":"a"}',
    '{"mod\\u0065l":"a"}',
    '{"model":"a","mod\\u0065l":"b"}',
    '{"model":"a","MODEL":"b"}',
    '{"model":"a","\\u004dodel":"b"}',
    '{"model":"a","ｍodel":"b"}',
  ])('refuses %s, of which two parsers could read different models', (text) => {
    expect(refusal(text, ['model'])).toEqual({ code: 'invalid_request', param: 'model' });
  });

  it('accepts repeated, escaped and odd keys that nobody acts on', () => {
    const text =
      '{"model":"m","a":1,"a":2,"\\u0062":3,"Model2":4,"messages":[{"model":"x","model":"y"}]}';
    const { members } = scanJson(Buffer.from(text), ['model']);
    expect(members.map(({ key }) => key)).toEqual(['model', 'a', 'a', 'b', 'Model2', 'messages']);
  });

  it('bounds nesting and the number of members without parsing first', () => {
    const nested = (depth: number): string =>
      `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    expect(scanJson(Buffer.from(nested(MAX_JSON_DEPTH))).members).toHaveLength(1);
    expect(refusal(nested(MAX_JSON_DEPTH + 1)).code).toBe('invalid_request');
    expect(refusal(`{"a":${'['.repeat(5_000_000)}`).code).toBe('invalid_request');
    const wide = Array.from({ length: MAX_JSON_MEMBERS + 1 }, (_, index) => `"${index}":0`).join(
      ',',
    );
    expect(refusal(`{${wide}}`).code).toBe('invalid_request');
  });

  it('takes linear time on runs of backslashes and quotes', () => {
    const text = JSON.stringify({ a: '\\'.repeat(500_000) + '"'.repeat(500_000), model: 'm' });
    const { members } = scanJson(Buffer.from(text), ['model']);
    expect(members.map(({ key }) => key)).toEqual(['a', 'model']);
  });
});
