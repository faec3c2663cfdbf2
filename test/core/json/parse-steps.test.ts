import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { atOnce } from '../../../src/core/turns/in-turns.ts';
import { parseKeepingRaw, RawJson } from '../../../src/core/json/raw.ts';
import { parseSteps } from '../../../src/core/json/parse-steps.ts';
import { jsonText } from '../json-text.ts';
import { runsOf } from '../../runs.ts';

const RUNS = { numRuns: runsOf(500, 2000), endOnFailure: true };
const SIZES = [1, 2, 3, 7, 30];

function parse(text: string | Buffer, chunkBytes: number, keep: string[] = []): unknown {
  return atOnce(parseSteps(Buffer.from(text as string), { keep, chunkBytes }));
}

/** The value with the order of its members, which equality does not see. */
function spelled(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    one instanceof RawJson ? { raw: one.text } : one,
  );
}

const LONG = 'a\\n€\\"\\\\\\\\😀\\ud83d\\ude00\\ud83d'.repeat(20);
const BY_HAND = [
  `"${LONG}"`,
  ` [ "${LONG}" , {"x" : "${LONG}"} , "${LONG}"] `,
  `{"${LONG}":"${LONG}","${LONG}":[1,2,{"${LONG}":[]}]}`,
  '{"a":{"b":[1,2,3,4,5,6,7,8,9]},"a":[1,2,3,4,5,6,7],"a":7,"c":1,"2":1,"1":[1,2,3,4]}',
  '{"__proto__":{"__proto__":[1,2,3,4,5,6,7]},"x":{"a":1,"__proto__":5,"b":2,"c":3}}',
  `{"a":[${'[1,2],'.repeat(50)}[[[[1,[2,[3,[4,5,6]]]]]]]],"b":{}}`,
  `${'[1,'.repeat(300)}1${']'.repeat(300)}`,
  `${'{"k":1,"l":'.repeat(200)}{}${'}'.repeat(200)}`,
  `[${'{},'.repeat(300)}[],"",0.5,-1e-7,null,true,false]`,
  '12345678901234567890.5e3',
  `{"s":"${'\\"'.repeat(300)}","t":"${'\\\\'.repeat(300)}","u":"${'\\u0041'.repeat(99)}"}`,
  '[ [ 1 , 2 ] , { "a" : { } , "b" : [ ] } , [ ] , 3 ]',
];

describe('parseSteps', () => {
  it('gives what JSON.parse gives, wherever it cuts', () => {
    const check = (text: string, chunkBytes: number): void => {
      const value = parse(text, chunkBytes);
      expect(value).toStrictEqual(JSON.parse(text));
      expect(spelled(value)).toBe(JSON.stringify(JSON.parse(text)));
    };
    for (const text of BY_HAND) for (const size of [...SIZES, 10_000]) check(text, size);
    fc.assert(fc.property(jsonText, fc.constantFrom(...SIZES), check), RUNS);
  });

  it('keeps members as their text where parseKeepingRaw does', () => {
    const check = (text: string, chunkBytes: number): void => {
      const named = text.replaceAll(/(?<!\\)"[a-f]?"(\s*:)/g, '"input"$1');
      const keep = ['input', 'x'];
      expect(spelled(parse(named, chunkBytes, keep))).toBe(spelled(parseKeepingRaw(named, keep)));
    };
    const calls = '[{"input":{"a":1.0,"input":[1]},"z":[1,2,3]},{"x":[1,{"input":{}}],"input":5}]';
    for (const text of [calls, ...BY_HAND]) for (const size of SIZES) check(text, size);
    fc.assert(fc.property(jsonText, fc.constantFrom(...SIZES), check), RUNS);
  });

  it('reads bytes that are no UTF-8 as a whole reading does', () => {
    const noise = fc
      .uint8Array({ maxLength: 80 })
      .map((bytes) =>
        Buffer.from(bytes.map((byte) => (byte < 32 || byte === 34 || byte === 92 ? 65 : byte))),
      );
    const between = fc.constantFrom('\\n', '\\\\', '\\u00e9', '');
    fc.assert(
      fc.property(fc.array(fc.tuple(noise, between)), fc.constantFrom(1, 2), (parts, size) => {
        const inside = parts.flatMap(([bytes, more]) => [bytes, Buffer.from(more)]);
        const body = Buffer.concat([Buffer.from('["'), ...inside, Buffer.from('"]')]);
        expect(parse(body, size)).toEqual(JSON.parse(body.toString('utf8')));
      }),
      RUNS,
    );
  });

  it('makes no more than a chunk at once of a long document', () => {
    const native = vi.spyOn(JSON, 'parse');
    const elements = `[${'{"a":[1,"x"]},'.repeat(100_000)}0]`;
    const steps = parseSteps(Buffer.from(`{"x":${elements},"y":"${'\\n'.repeat(1_000_000)}"}`));
    let [most, count] = [0, 0];
    while (!steps.next().done) {
      const size = native.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
      most = Math.max(most, size);
      native.mockClear();
      count++;
    }
    native.mockRestore();
    expect(most).toBeLessThan(300 * 1024);
    expect(count).toBeGreaterThan(50);
  });
});
