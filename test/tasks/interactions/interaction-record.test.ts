import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { readInteraction } from '../../../src/protocols/interactions/interaction.ts';
import {
  isBillable,
  keptOf,
  keptOfStream,
} from '../../../src/tasks/interactions/interaction-record.ts';
import { verifies } from '../../requirements.ts';

const USED = { usage: { total_input_tokens: 3, total_output_tokens: 2 } };

describe('an Interaction', () => {
  it.each([
    ['completed', {}, true],
    ['completed', USED, true],
    ['incomplete', {}, true],
    ['failed', {}, false],
    ['failed', { usage: {} }, false],
    ['failed', USED, true],
    ['cancelled', {}, false],
    ['cancelled', USED, true],
  ])('that is %s and says %j is billed: %s', (status, value, billed) => {
    expect(isBillable({ id: 'int_1', status, value })).toBe(billed);
  });

  it.each([
    ['with media', '"steps":[{"type":"image","data":"AAAA"},{"arguments":ARGUMENTS}]'],
    ['too large', '"version":1.0,"steps":[{"text":"TEXT"}]'],
    ['whole', '"steps":[{"arguments":ARGUMENTS}]'],
  ])(verifies('numbers.kept', 'keeps the digits of its numbers: %s'), (_name, members) => {
    const text = `{"id":"int_1","status":"completed","usage":{"cost":0.10},${members}}`
      .replace('ARGUMENTS', '{"id":12345678901234567890,"rate":1.0,"list":[1e2,{"a":-0}]}')
      .replace('TEXT', 'a'.repeat(300_000));
    const body = Buffer.from(text);
    const seen = readInteraction(body)!;
    const copy = text
      .replace('{"type":"image","data":"AAAA"}', '{"type":"image"}')
      .replace(/\{"text":"a+"\}/, '{"type":"unknown"}');
    expect(keptOf(seen, body).body).toBe(copy);
    expect(keptOfStream(seen).body).toBe(copy);
  });
});
