import { Buffer } from 'node:buffer';
import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { parseInSlices, scanInSlices, scanJson } from '../../../src/core/json/json-document.ts';
import type { JsonDocument } from '../../../src/core/json/json-document.ts';
import { JsonScanner } from '../../../src/core/json/scanner.ts';
import { inTurns } from '../../../src/core/turns/in-turns.ts';
import { verifies } from '../../requirements.ts';
import { BODY_VALUES } from '../../support/value-bounds.ts';

const documentOf = (text: string): JsonDocument => scanJson(Buffer.from(text));
const values = BODY_VALUES;

/** How often others got their turn since. */
function countTurns(): { end(): number } {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  return {
    end() {
      isOver = true;
      return turns;
    },
  };
}

async function refusal(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof GatewayError) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('was accepted');
}

describe('JsonDocument', () => {
  it('parses one member alone, the last of its name', () => {
    const parse = vi.spyOn(JSON, 'parse');
    try {
      const json = documentOf('{"long":["x","y"],"a":1,"a":[2,"é"],"n":null}');
      expect(json.get('a')).toEqual([2, 'é']);
      expect([json.get('n'), json.get('missing')]).toEqual([null, undefined]);
      expect(parse.mock.calls.map(([text]) => text)).toEqual(['[2,"é"]']);
    } finally {
      parse.mockRestore();
    }
  });

  it('makes the whole value once, and again when it was released', () => {
    const json = documentOf('{"a":{"b":1}}');
    const first = json.value;
    expect(first).toEqual({ a: { b: 1 } });
    expect(json.value).toBe(first);
    expect(json.get('a')).toBe(first['a']);
    json.release();
    expect(json.value).not.toBe(first);
    expect(json.value).toEqual(first);
  });

  it('tells kinds and sizes of members without parsing them', () => {
    const json = documentOf(
      '{"o":{"x":1},"a":[1,2],"m":[1,"2",[3]],"s":"","b":true,"n":null,"i":-1}',
    );
    const kinds = json.members.map(({ key }) => json.kindOf(key));
    expect(kinds).toEqual(['object', 'array', 'array', 'string', 'boolean', 'null', 'number']);
    expect(json.find('a')).toMatchObject({ size: 2, isNumbers: true });
    expect(json.find('m')).toMatchObject({ size: 3, isNumbers: false });
    expect([json.kindOf('x'), json.find('x')]).toEqual([undefined, undefined]);
  });

  it('refuses too many values by the name of the setting, and before it makes any', async () => {
    const body = Buffer.from(`{"x":[${'{},'.repeat(values.most)}{}]}`);
    const expected = `invalid_request: the body holds more than ${values.most} values; \`server.limits.body_values\` sets the bound`;
    const parse = vi.spyOn(JSON, 'parse');
    try {
      expect(await refusal(() => scanJson(body, [], { values }))).toBe(expected);
      expect(await refusal(() => scanInSlices(body, { values }))).toBe(expected);
      expect(await refusal(() => parseInSlices(body, { values }))).toBe(expected);
      expect(parse).not.toHaveBeenCalled();
    } finally {
      parse.mockRestore();
    }
  });

  it('makes no value of a member that may hold too many numbers, and of the others still', async () => {
    const bound = { most: 10, numbers: 1000, setting: 'server.limits.body_values' };
    const list = `[${'7,'.repeat(1000)}7]`;
    const text = `{"model":"m","n":3,"text":${JSON.stringify('x'.repeat(3000))},"x":${list},"y":{"z":${list}}}`;
    const parse = vi.spyOn(JSON, 'parse');
    try {
      const json = scanJson(Buffer.from(text), [], { values: bound });
      expect([json.get('model'), json.get('n'), json.get('none')]).toEqual(['m', 3, undefined]);
      expect(json.get('text')).toHaveLength(3000);
      parse.mockClear();
      for (const key of ['x', 'y']) {
        const refused = /^invalid_request: .*1000 numbers.*body_values/;
        expect(await refusal(() => json.get(key))).toMatch(refused);
        expect(await refusal(() => inTurns(json.getSteps(key)))).toMatch(refused);
      }
      expect(parse).not.toHaveBeenCalled();
    } finally {
      parse.mockRestore();
    }
  });

  it('makes the value of one member in turns, and others have theirs between them', async () => {
    const list = Array.from({ length: 200_000 }, (_, index) => `m${index}`);
    const json = documentOf(JSON.stringify({ a: 1, list }));
    const turns = countTurns();
    expect(await inTurns(json.getSteps('list'))).toEqual(list);
    expect(turns.end()).toBeGreaterThan(2);
    expect(await inTurns(json.getSteps('a'))).toBe(1);
    expect(await inTurns(json.getSteps('none'))).toBeUndefined();
    expect(json.value['a']).toBe(1);
    expect(await inTurns(json.getSteps('a'))).toBe(1);
  });

  it('holds lists of numbers of any length, but makes no value of too many', async () => {
    const bound = { most: 10, numbers: 1000, setting: 'server.limits.body_values' };
    const numbers = (count: number) => Buffer.from(`{"x":[${'7,'.repeat(count - 1)}7]}`);
    expect(scanJson(numbers(1000), [], { values: bound }).value['x']).toHaveLength(1000);
    const json = scanJson(numbers(1001), [], { values: bound });
    expect(json.find('x')).toMatchObject({ size: 1001, isNumbers: true });
    expect(await refusal(() => json.value)).toMatch(
      /^invalid_request: .*1000 numbers.*body_values/,
    );
  });

  it(
    verifies(
      'limits.values.before-parse',
      'stops at the bound, with turns for others, and parses nothing of it',
    ),
    async () => {
      const members = Array.from(
        { length: values.most },
        (_, index) => `"${index.toString(36)}":{}`,
      );
      for (const start of ['{"x":[', `{"x":{${members.slice(1).join(',')}},"y":[`]) {
        const body = Buffer.from(`${start}${'{},'.repeat(3_000_000)}{}]}`);
        const parse = vi.spyOn(JSON, 'parse');
        const step = vi.spyOn(JsonScanner.prototype, 'step');
        const others = countTurns();
        let elapsed = 0;
        const slow = vi.spyOn(performance, 'now').mockImplementation(() => (elapsed += 5));
        try {
          expect(await refusal(() => scanInSlices(body, { values }))).toMatch(/values/);
          const scanner = step.mock.contexts[0] as JsonScanner;
          expect(scanner.scanned).toBeLessThan(3_000_000);
          // A slice takes a few milliseconds where a core is slow.
          expect(step.mock.calls.every(([bytes]) => Number(bytes) <= 256 * 1024)).toBe(true);
          expect(others.end()).toBeGreaterThanOrEqual(step.mock.calls.length - 1);
          expect(parse).not.toHaveBeenCalled();
        } finally {
          others.end();
          slow.mockRestore();
          step.mockRestore();
          parse.mockRestore();
        }
      }
    },
    60_000,
  );

  it('holds nothing any more once it is discarded, whoever holds it', () => {
    const json = scanJson(Buffer.from('{"model":"m","x":[1]}'));
    expect(json.value).toEqual({ model: 'm', x: [1] });
    json.discard();
    expect([json.value, json.get('model'), json.find('x'), json.members]).toEqual([
      {},
      undefined,
      undefined,
      [],
    ]);
    expect(json.body.toString()).toBe('{}');
  });

  it('gives others their turn while a long document is scanned', async () => {
    const MB = 2 ** 20;
    const others = countTurns();
    const body = Buffer.from(`{"x":[${'1,'.repeat(4 * MB)}1]}`);
    const json = await scanInSlices(body, { values });
    expect(others.end()).toBeGreaterThanOrEqual(31);
    expect(json.find('x')?.size).toBe(4 * MB + 1);
    expect(scanInSlices(Buffer.from('{"a":1}'), { values })).not.toBeInstanceOf(Promise);
  });
});
