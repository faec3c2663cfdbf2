import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMessagesStream } from '../../../src/protocols/messages/messages-stream.ts';
import type { StreamReader } from '../../../src/protocols/protocol.ts';
import { verifies } from '../../requirements.ts';
import {
  endEvents,
  MESSAGE_START,
  messagesEvents,
  messagesFrames,
  textEvents,
} from '../../support/messages.ts';
import { ANSWER, fakePeek } from '../../support/protocols.ts';
import { waysToCut } from '../../core/sse/cuts.ts';
import { framesOf } from '../codec-laws.ts';
import { mutatedFrames } from '../mutations.ts';

const PING = { type: 'ping' };
const whole = [MESSAGE_START, PING, ...textEvents(0, 'Hel', 'lo 世界'), ...endEvents()];
const TOOLS = [
  MESSAGE_START,
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'thinking', thinking: '', signature: '' },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
  },
  {
    type: 'content_block_delta',
    index: 1,
    delta: { type: 'input_json_delta', partial_json: '{"a":"\\"text\\": \\"' },
  },
  {
    type: 'content_block_delta',
    index: 1,
    delta: { type: 'input_json_delta', partial_json: '"}' },
  },
  { type: 'content_block_stop', index: 1 },
  ...endEvents('tool_use'),
];
const ERROR = { type: 'error', error: { type: 'overloaded_error', message: 'too busy' } };

function open(logicalModel?: string): StreamReader {
  return createMessagesStream({ ...ANSWER, logicalModel, peek: fakePeek() });
}

function run(chunks: readonly (Uint8Array | string)[], logicalModel?: string) {
  const reader = open(logicalModel);
  const parts = chunks.map((part) => reader.push(Buffer.from(part)));
  parts.push(reader.end());
  return { output: Buffer.concat(parts.filter((part) => part !== undefined)).toString(), reader };
}

function outcome({ output, reader }: ReturnType<typeof run>) {
  const { contentSeen, ended, failure, usage, outputChars, events } = reader;
  return { output, contentSeen, ended, failure, usage, outputChars, events };
}

const FIXTURES: Record<string, string> = {
  text: messagesFrames(whole),
  tools: messagesFrames(TOOLS),
  failing: messagesFrames([...whole.slice(0, 5), ERROR]),
  cut: messagesFrames(whole.slice(0, 5)),
  'cut in an event': messagesFrames(whole).slice(0, 700),
  'without names': messagesFrames(whole).replaceAll(/^event: .*\n/gm, ''),
  'without its last blank line': messagesFrames(whole).slice(0, -1),
  comments: `: busy\n\n${messagesFrames(whole)}`,
};

describe('a Messages stream', () => {
  for (const [name, text] of Object.entries(FIXTURES)) {
    it(verifies('stream.sse.chunk-boundaries', `reads "${name}" alike at every split`), () => {
      const plain = outcome(run([text]));
      for (const end of ['\n', '\r\n', '\r']) {
        const bytes = Buffer.from(text.replaceAll('\n', end));
        const expected = outcome(run([bytes]));
        expect({ ...expected, output: expected.output.replaceAll(/\r\n?/g, '\n') }).toEqual(plain);
        for (const chunks of waysToCut(bytes)) expect(outcome(run(chunks))).toEqual(expected);
      }
    });
  }

  it('goes on byte for byte', () => {
    for (const events of [whole, TOOLS]) {
      const { output, reader } = run([messagesFrames(events)]);
      expect(output).toBe(messagesFrames(events));
      expect(reader).toMatchObject({ ended: true, failure: undefined, contentSeen: true });
    }
    expect(run([messagesFrames(whole)]).reader.outputChars).toBe('Hello 世界'.length + 4);
    expect(run([messagesFrames(TOOLS)]).reader.outputChars).toBeGreaterThan(20);
  });

  it(
    verifies('messages.stream.event-names', 'names every event by its type, whatever came'),
    () => {
      const nameless = messagesFrames(whole).replaceAll(/^event: .*\n/gm, '');
      expect(run([nameless]).output).toBe(messagesFrames(whole));
      const misnamed = messagesFrames(whole).replaceAll(/^event: .*$/gm, 'event: message');
      expect(run([misnamed]).output).toBe(messagesFrames(whole));
    },
  );

  it(
    verifies(
      'messages.stream.unknown-events-forwarded',
      'forwards events, blocks and deltas that nobody knows, in their order',
    ),
    () => {
      const events = [
        MESSAGE_START,
        { type: 'beta_note', nested: { a: [1] } },
        { type: 'content_block_start', index: 0, content_block: { type: 'beta_block', id: 'b1' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'beta_delta', beta: 1.5 } },
        { type: 'content_block_stop', index: 0 },
        ...textEvents(1, 'x'),
        { type: 'beta_note', late: true },
        ...endEvents(),
      ];
      expect(run([messagesFrames(events)]).output).toBe(messagesFrames(events));
    },
  );

  it('has no content before a text, a call or a reason to stop', () => {
    const reader = open();
    const [start, delta] = textEvents(0, 'x') as [object, object];
    for (const event of [MESSAGE_START, PING, start, { type: 'beta_note' }]) {
      reader.push(Buffer.from(messagesFrames([event])));
      expect(reader.contentSeen).toBe(false);
    }
    reader.push(Buffer.from(messagesFrames([delta])));
    expect(reader.contentSeen).toBe(true);
    const call = open();
    call.push(Buffer.from(messagesFrames(TOOLS.slice(5, 6))));
    expect(call.contentSeen).toBe(true);
    const stopped = open();
    stopped.push(Buffer.from(messagesFrames([MESSAGE_START, ...endEvents()])));
    expect(stopped).toMatchObject({ contentSeen: true, ended: true });
  });

  it(verifies('messages.stream.error-in-band', "stops at the provider's own error"), () => {
    const { output, reader } = run([messagesFrames([...whole.slice(0, 5), ERROR, ...endEvents()])]);
    expect(output).toBe(messagesFrames(whole.slice(0, 5)));
    expect(reader.ended).toBe(false);
    expect(reader.failure).toEqual({
      kind: 'error',
      message: 'too busy',
      type: 'overloaded_error',
      status: 529,
    });
  });

  it('tells a cut from an end whose last event is missing', () => {
    expect(run([FIXTURES['cut'] ?? '']).reader).toMatchObject({
      ended: false,
      failure: { kind: 'truncated' },
    });
    const unstopped = run([messagesFrames(whole.slice(0, -1))]);
    expect(unstopped.output).toBe(messagesFrames(whole));
    expect(unstopped.reader).toMatchObject({ ended: true, failure: undefined });
    const closed = run([`${messagesFrames(whole.slice(0, -1))}data: [DONE]\n\n`]);
    expect(messagesEvents(closed.output).at(-1)).toEqual({ type: 'message_stop' });
  });

  it('fails when it ends without an answer', () => {
    const { reader } = run([messagesFrames([MESSAGE_START, PING, { type: 'message_stop' }])]);
    expect(reader).toMatchObject({ ended: false, failure: { kind: 'truncated' } });
    expect(run(['']).reader.failure?.kind).toBe('truncated');
    expect(run(['data: {"oops": \n\n']).reader.failure?.kind).toBe('malformed');
  });

  it(
    verifies('messages.usage.cache-accounting', 'counts what is told last, member by member'),
    () => {
      const start = structuredClone(MESSAGE_START) as { message: { usage: object } };
      start.message.usage = { input_tokens: 18_000, output_tokens: 1 };
      const usage = { input_tokens: 18, cache_read_input_tokens: 17_982, output_tokens: 5 };
      const events = [start, ...textEvents(0, 'x'), ...endEvents('end_turn', usage)];
      expect(run([messagesFrames(events)]).reader.usage).toMatchObject({
        input: 18,
        cacheRead: 17_982,
        output: 5,
      });
      const silent = [start, ...textEvents(0, 'x'), ...endEvents('end_turn', { output_tokens: 5 })];
      expect(run([messagesFrames(silent)]).reader.usage).toMatchObject({
        input: 18_000,
        output: 5,
      });
      const zeros = { input_tokens: 0, cache_read_input_tokens: null, output_tokens: 5 };
      const blank = [start, ...textEvents(0, 'x'), ...endEvents('end_turn', zeros)];
      expect(run([messagesFrames(blank)]).reader.usage).toMatchObject({ input: 18_000, output: 5 });
    },
  );

  it('carries the name that the client asked for where the route wants that', () => {
    const { output } = run([messagesFrames(whole)], 'acme/one');
    const [first, ...rest] = messagesEvents(output);
    expect(first?.message?.model).toBe('acme/one');
    expect(rest).toEqual(whole.slice(1));
  });

  it('never throws, whatever comes', () => {
    const frames = framesOf(Buffer.from(messagesFrames([...whole.slice(0, 3), ...TOOLS])));
    fc.assert(
      fc.property(mutatedFrames(frames), (bytes) => {
        const { reader } = run([bytes], 'acme/one');
        expect(reader.ended).toBe(reader.failure === undefined);
      }),
    );
  });
});
