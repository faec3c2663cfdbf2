import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';

import { formatSse } from '../../../src/core/sse/frame.ts';
import { verifies } from '../../requirements.ts';
import { atOnce, encodeOptions } from '../../support/protocols.ts';
import { wireTo } from '../spoken.ts';
import { OPTIONS, peekOf, rowOf, translate } from '../translating.ts';

const TOOL = { name: 'f', input_schema: { type: 'object', properties: {} } };
const asked = { role: 'user', content: 'go' };
const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });

/** Ids of the calls in the answer of a server that counts them from zero in each answer. */
function idsIn(messages: readonly object[], isStreamed: boolean): string[] {
  const peek = peekOf('messages', { max_tokens: 99, tools: [TOOL], messages, stream: isStreamed });
  const wire = wireTo(rowOf('messages').protocol, 'chat');
  wire.encode(peek, encodeOptions({}));
  const tool_calls = [call('call_0'), call('call_0')].map((one, index) => ({ ...one, index }));
  if (!isStreamed) {
    const choice = { message: { content: '', tool_calls }, finish_reason: 'tool_calls' };
    const body = JSON.stringify({ id: 'c', choices: [{ index: 0, ...choice }] });
    const answer = atOnce(wire.readAnswer(Buffer.from(body), peek, OPTIONS));
    return JSON.parse(String(answer?.body)).content.map(({ id }: { id: string }) => id);
  }
  const chunks = [{ delta: { tool_calls } }, { delta: {}, finish_reason: 'tool_calls' }];
  const reader = wire.createStream?.({ ...OPTIONS, peek });
  const told = chunks.map((choice) => {
    const data = JSON.stringify({ id: 'c', choices: [{ index: 0, ...choice }] });
    return String(reader?.push(formatSse({ data })) ?? '');
  });
  return [...told.join('').matchAll(/"tool_use","id":"([^"]+)"/g)].map(([, id = '']) => id);
}

/** Ids in a request, as they are spelled in each protocol. */
const idsOf = (text: string) =>
  [...text.matchAll(/"(?:id|call_id|tool_use_id)":"(call_[^"]+)"/g)].map(([, id]) => id);

const used = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
const result = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content });

describe('ids of calls', () => {
  it.each([false, true])(
    verifies('translate.unique-ids', 'differ within an answer and from those before it: %s'),
    (isStreamed) => {
      const first = idsIn([asked], isStreamed);
      expect(first[0]).toBe('call_0');
      const answered = [
        { role: 'assistant', content: first.map(used) },
        { role: 'user', content: first.map((id) => result(id, 'done')) },
      ];
      const second = idsIn([asked, ...answered], isStreamed);
      expect(new Set([...first, ...second]).size).toBe(4);
      for (const id of second) expect(id).toMatch(/^call_0_[0-9a-f]{12}$/);
      expect(idsIn([asked, ...answered], isStreamed)).toEqual(second);
    },
  );

  it.each(['messages', 'responses', 'generate-content'] as const)(
    verifies(
      'translate.unique-ids',
      'that a conversation repeats differ for %s, with their results',
    ),
    (target) => {
      const turn = (text: string) => [
        { role: 'assistant', content: '', tool_calls: [call('call_0')] },
        { role: 'tool', tool_call_id: 'call_0', content: text },
      ];
      const messages = [asked, ...turn('ONE'), ...turn('TWO')];
      const { body } = translate('chat', { messages }, target);
      const text = JSON.stringify(body);
      const ids = idsOf(text);
      // Each call, then its result.
      expect(ids).toHaveLength(4);
      expect([ids[0], ids[2]]).toEqual([ids[1], ids[3]]);
      expect(ids[0]).not.toBe(ids[2]);
      expect(text.indexOf('ONE')).toBeLessThan(text.lastIndexOf(String(ids[2])));
    },
  );

  it('that a conversation repeats belong to the call before the result, not to an interrupted one', () => {
    const called = { role: 'assistant', content: '', tool_calls: [call('call_0')] };
    const messages = [
      asked,
      called,
      { role: 'user', content: 'stop, once more' },
      called,
      { role: 'tool', tool_call_id: 'call_0', content: 'ONE' },
    ];
    const ids = idsOf(JSON.stringify(translate('chat', { messages }, 'responses').body));
    expect(ids[0]).toBe('call_0');
    expect(ids.at(-1)).toBe(ids.at(-2));
    expect(ids.at(-1)).not.toBe('call_0');
  });
});
