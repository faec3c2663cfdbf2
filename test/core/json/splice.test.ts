import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanJson } from '../../../src/core/json/json-document.ts';
import { spliceJson } from '../../../src/core/json/splice.ts';
import type { JsonEdit } from '../../../src/core/json/splice.ts';
import { verifies } from '../../requirements.ts';
import { jsonObjectText, jsonText } from '../json-text.ts';

function splice(text: string, ...edits: JsonEdit[]): string {
  const body = Buffer.from(text);
  return spliceJson(body, scanJson(body).members, edits).toString();
}

/** Key and value texts of the members, in order. */
function memberTexts(text: string): [string, string][] {
  const body = Buffer.from(text);
  return scanJson(body).members.map((member) => [
    body.toString('utf8', member.keyStart, member.keyEnd),
    body.toString('utf8', member.valueStart, member.valueEnd),
  ]);
}

describe('spliceJson', () => {
  it(verifies('routing.body.byte-faithful', 'changes nothing but the value that is set'), () => {
    fc.assert(
      fc.property(jsonObjectText, fc.nat(), jsonText, (text, pick, json) => {
        const body = Buffer.from(text);
        const { members } = scanJson(body);
        const member = members[pick % Math.max(1, members.length)];
        fc.pre(member !== undefined);
        const result = spliceJson(body, members, [{ op: 'set', key: member.key, json }]);
        const expected = [
          body.subarray(0, member.valueStart),
          Buffer.from(json),
          body.subarray(member.valueEnd),
        ];
        expect(result.equals(Buffer.concat(expected))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('does any mix of edits as parsing, editing and writing would, and keeps the rest as spelled', () => {
    const ops = fc.array(fc.constantFrom('keep', 'set', 'remove', 'rename'), {
      minLength: 7,
      maxLength: 7,
    });
    const added = fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { maxLength: 2 });
    fc.assert(
      fc.property(jsonObjectText, ops, added, (text, chosen, news) => {
        const edits: JsonEdit[] = [];
        const expected: [string, string][] = [];
        for (const [index, [quoted, value]] of memberTexts(text).entries()) {
          const key: string = JSON.parse(quoted);
          const op = chosen[index] ?? 'keep';
          if (op === 'set') edits.push({ op, key, json: '[1.0]' });
          if (op === 'remove') edits.push({ op, key });
          if (op === 'rename') edits.push({ op, key, to: `renamed ${index}` });
          if (op === 'keep') expected.push([quoted, value]);
          if (op === 'set') expected.push([quoted, '[1.0]']);
          if (op === 'rename') expected.push([`"renamed ${index}"`, value]);
        }
        for (const name of news) {
          edits.push({ op: 'set', key: `new ${name}`, json: '"ü"' });
          expected.push([`"new ${name}"`, '"ü"']);
        }
        expect(memberTexts(splice(text, ...edits))).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });

  it('returns the same buffer when nothing changes', () => {
    const body = Buffer.from('{ "a" : 1.0 }');
    expect(spliceJson(body, scanJson(body).members, [{ op: 'remove', key: 'b' }])).toBe(body);
  });

  it('adds to an empty object', () => {
    expect(splice(' { } ', { op: 'set', key: 'a', json: '1' })).toBe(' {"a":1 } ');
  });

  it('takes the right comma along with a removed member', () => {
    const text = '{ "a":1 , "b":2 , "c":3 }';
    expect(splice(text, { op: 'remove', key: 'a' })).toBe('{ "b":2 , "c":3 }');
    expect(splice(text, { op: 'remove', key: 'b' })).toBe('{ "a":1 , "c":3 }');
    expect(splice(text, { op: 'remove', key: 'c' })).toBe('{ "a":1 , "b":2 }');
  });

  it('removes every occurrence of a repeated member', () => {
    expect(splice('{"a":1,"b":2,"a":3}', { op: 'remove', key: 'a' })).toBe('{"b":2}');
  });
});
