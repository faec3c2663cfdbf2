import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { quirkEdits } from '../../../src/core/json/json-quirks.ts';
import { scanJson } from '../../../src/core/json/json-document.ts';
import { spliceJson } from '../../../src/core/json/splice.ts';
import type { Quirks } from '../../../src/core/json/quirks.ts';

function apply(text: string, quirks: Quirks): string {
  const body = Buffer.from(text);
  const { members } = scanJson(body);
  return spliceJson(body, members, quirkEdits(body, members, quirks)).toString();
}

describe('quirkEdits', () => {
  it('drops, renames and defaults', () => {
    const quirks: Quirks = {
      drop: ['seed', 'absent'],
      rename: { max_tokens: 'limit' },
      default: { top_k: 40, a: 2 },
    };
    expect(apply('{"a":1.0,"seed":7,"max_tokens":5}', quirks)).toBe(
      '{"a":1.0,"limit":5,"top_k":40}',
    );
  });

  it('keeps the new name when both spellings are there', () => {
    expect(apply('{"old":1,"new":2}', { rename: { old: 'new' } })).toBe('{"new":2}');
    expect(apply('{"a":1,"b":2}', { rename: { a: 'c', b: 'c' } })).toBe('{"c":1}');
  });

  it('takes the old name where the new one is null', () => {
    const quirks: Quirks = { rename: { old: 'new' } };
    expect(apply('{"new":null,"old":1}', quirks)).toBe('{"new":1}');
    expect(apply('{"old":1,"new": null}', quirks)).toBe('{"new":1}');
    expect(apply('{"old":null,"new":null}', quirks)).toBe('{"new":null}');
  });

  it('forces a value by dropping and defaulting it', () => {
    const quirks: Quirks = { drop: ['temperature'], default: { temperature: 1 } };
    expect(apply('{"temperature":0.2}', quirks)).toBe('{"temperature":1}');
    expect(apply('{"x":0}', quirks)).toBe('{"x":0,"temperature":1}');
  });

  it('renames onto a dropped name', () => {
    expect(apply('{"b":1,"a":2}', { drop: ['b'], rename: { a: 'b' } })).toBe('{"b":2}');
  });

  it('passes over a provider that refuses a member which is not dropped', () => {
    const refused = () => apply('{"a":1,"b":2}', { refuse: ['x', 'b'] });
    expect(refused).toThrow(
      expect.objectContaining({
        code: 'unsupported_feature',
        param: 'b',
        message: expect.stringContaining('`b`'),
      }),
    );
    expect(apply('{"a":1,"b":2}', { drop: ['b'], refuse: ['b'] })).toBe('{"a":1}');
    expect(apply('{"a":1}', { refuse: ['b'], default: { b: 2 } })).toBe('{"a":1,"b":2}');
  });
});
