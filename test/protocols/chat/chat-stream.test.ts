import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createChatStream } from '../../../src/protocols/chat/chat-stream.ts';
import type { StreamReader } from '../../../src/protocols/protocol.ts';
import { verifies } from '../../requirements.ts';
import { runsOf } from '../../runs.ts';
import { ANSWER, fakePeek } from '../../support/protocols.ts';
import { cutEvery, waysToCut } from '../../core/sse/cuts.ts';
import {
  DONE,
  chunk,
  failing,
  frames,
  reasoning,
  role,
  stop,
  text,
  tools,
  usageChunk,
} from './chat-fixtures.ts';
import type { Payloads } from './chat-fixtures.ts';

interface Run {
  output: string;
  reader: StreamReader;
}

interface Asked {
  keepUsage?: boolean;
  choices?: number;
  logicalModel?: string;
}

function open({ keepUsage = false, choices = 1, logicalModel }: Asked = {}): StreamReader {
  return createChatStream({ ...ANSWER, logicalModel, peek: fakePeek({ keepUsage, choices }) });
}

function run(chunks: readonly (Uint8Array | string)[], asked: Asked = {}): Run {
  const reader = open(asked);
  const parts = chunks.map((part) => reader.push(Buffer.from(part)));
  parts.push(reader.end());
  return { output: Buffer.concat(parts.filter((part) => part !== undefined)).toString(), reader };
}

function outcome({ output, reader }: Run) {
  const { contentSeen, ended, failure, usage, outputChars, events } = reader;
  return { output, contentSeen, ended, failure, usage, outputChars, events };
}

/** The same with LF and a blank behind each colon. */
function inPlainFraming({ output, ...rest }: ReturnType<typeof outcome>) {
  const lines = output.replaceAll(/\r\n?/g, '\n');
  return { output: lines.replaceAll(/^(data|event|id):(?! )/gm, '$1: '), ...rest };
}

const without = (payloads: Payloads, ...dropped: string[]): Payloads =>
  payloads.filter((payload) => !dropped.includes(payload));

const comments =
  ': processing\n\n' +
  frames([role]) +
  ': processing\n\n' +
  frames([chunk({ delta: { content: 'x' } }), stop, DONE]);

const FIXTURES: Record<string, (framing: { end: string; gap: string }) => string> = {
  text: (framing) => frames(text, framing),
  tools: (framing) => frames(tools, framing),
  'reasoning without end marker': (framing) => frames(reasoning, framing),
  failing: (framing) => frames(failing, framing),
  'cut in an event': (framing) =>
    frames(text.slice(0, 2), framing) + frames([text[2] ?? ''], framing).slice(0, 90),
  malformed: (framing) =>
    frames([role, chunk({ delta: { content: 'x' } }), '{"oops": ', DONE], framing),
  'last blank line missing': (framing) => frames(text, framing).slice(0, -2 * framing.end.length),
  'comments, names and ids': ({ end, gap }) =>
    comments
      .replaceAll('data: ', `event:${gap}chunk\nid:${gap}1\ndata:${gap}`)
      .replaceAll('\n', end),
};

describe('a chat stream', () => {
  for (const [name, write] of Object.entries(FIXTURES)) {
    it(
      verifies('stream.sse.chunk-boundaries', `reads "${name}" alike at every split and framing`),
      () => {
        const plain = outcome(run([write({ end: '\n', gap: ' ' })]));
        for (const end of ['\n', '\r\n', '\r']) {
          for (const gap of ['', ' ']) {
            const bytes = Buffer.from(write({ end, gap }));
            const expected = outcome(run([bytes]));
            expect(inPlainFraming(expected)).toEqual(plain);
            for (const chunks of waysToCut(bytes)) expect(outcome(run(chunks))).toEqual(expected);
          }
        }
      },
    );
  }

  it(
    verifies(
      'stream.sse.chunk-boundaries',
      'reads an event over 64 KiB alike in chunks of any size',
    ),
    () => {
      const large = [role, chunk({ delta: { content: '世界🌍'.repeat(9000) } }), stop, DONE];
      for (const end of ['\n', '\r\n', '\r']) {
        const bytes = Buffer.from(frames(large, { end, gap: '' }));
        const expected = outcome(run([bytes]));
        expect(expected).toMatchObject({ output: bytes.toString(), ended: true });
        for (const size of [997, 1024, 16_384, 65_536, 65_537]) {
          expect(outcome(run(cutEvery(bytes, size)))).toEqual(expected);
        }
        for (let at = 300; at < bytes.length; at += 4999) {
          expect(outcome(run([bytes.subarray(0, at), bytes.subarray(at)]))).toEqual(expected);
        }
      }
    },
  );

  it(
    verifies(
      'chat.stream.include-usage',
      'drops the usage chunk unless the client asked, and reads it either way',
    ),
    () => {
      const counted = { input: 15, cacheRead: 5, output: 9, reasoning: 4 };
      const dropped = run([frames(text)]);
      expect(dropped.output).toBe(frames(without(text, usageChunk)));
      expect(dropped.reader.usage).toMatchObject(counted);
      const kept = run([frames(text)], { keepUsage: true });
      expect(kept.output).toBe(frames(text));
      expect(kept.reader.usage).toMatchObject(counted);
    },
  );

  it('drops a usage chunk also when its numbers make no sense', () => {
    const odd = JSON.stringify({ choices: [], usage: {} });
    expect(run([frames([role, stop, odd, DONE])]).output).toBe(frames([role, stop, DONE]));
  });

  it('forwards usage that stands beside choices as it came', () => {
    const { output, reader } = run([frames(tools)]);
    expect(output).toBe(frames(tools));
    expect(reader.usage).toMatchObject({ input: 15, output: 9 });
  });

  it('forwards chunks with empty choices that carry no usage', () => {
    const filter = JSON.stringify({ choices: [], prompt_filter_results: [] });
    expect(run([frames([filter, ...text])], { keepUsage: true }).output).toBe(
      frames([filter, ...text]),
    );
  });

  it(verifies('chat.stream.ends-with-done', 'ends with one [DONE] and lets nothing follow'), () => {
    const extra = frames([DONE, chunk({ delta: { content: 'late' } }), DONE]);
    for (const chunks of [[frames(text) + extra], [frames(text), extra]]) {
      const { output, reader } = run(chunks, { keepUsage: true });
      expect(output).toBe(frames(text));
      expect(reader).toMatchObject({ ended: true, failure: undefined });
    }
    const supplied = run([frames(reasoning)]);
    expect(supplied.output).toBe(frames([...reasoning, DONE]));
    expect(supplied.reader.ended).toBe(true);
  });

  it(
    verifies(
      'stream.upstream-death',
      'calls a stream that stops in mid text or arguments truncated, without an end',
    ),
    () => {
      for (const payloads of [text.slice(0, 2), tools.slice(0, 2)]) {
        const { output, reader } = run([frames(payloads), frames([text[2] ?? '']).slice(0, -20)]);
        expect(output).toBe(frames(payloads));
        expect(reader).toMatchObject({
          ended: false,
          contentSeen: true,
          failure: { kind: 'truncated' },
        });
      }
    },
  );

  it('waits for every choice before it forgives a missing end marker', () => {
    const two = [
      chunk({ delta: { content: 'a' } }),
      chunk({ delta: { content: 'b' }, index: 1 }),
      stop,
    ];
    expect(run([frames(two)], { choices: 2 }).reader.failure?.kind).toBe('truncated');
    const both = [...two, chunk({ finish: 'length', index: 1 })];
    expect(run([frames(both)], { choices: 2 }).reader.ended).toBe(true);
  });

  it(
    verifies(
      'chat.stream.error-in-band',
      'keeps back an error of the provider and everything behind it',
    ),
    () => {
      const { output, reader } = run([frames(failing)]);
      expect(output).toBe(frames(failing.slice(0, 2)));
      expect(reader.ended).toBe(false);
      expect(reader.failure).toEqual({
        kind: 'error',
        message: 'böse',
        type: 'server_error',
        code: 'overloaded',
        status: 529,
      });
    },
  );

  it.each([
    ['data: {"error": "overloaded"}\n\n', { message: 'overloaded' }],
    [
      'event: error\ndata: {"message":"m","code":503}\n\n',
      { message: 'm', code: '503', status: 503 },
    ],
    ['event: error\ndata: plain\n\n', { message: 'plain' }],
    ['event: error\n\n', { message: '' }],
    ['data: {"object":"error","message":"m","type":"t"}\n\n', { message: 'm', type: 't' }],
    [frames([chunk({ finish: 'error' })]), { message: '' }],
    [
      frames([chunk({ finish: 'error', extra: { error: { code: 502, message: 'm' } } })]),
      { message: 'm', status: 502 },
    ],
  ])('recognises the error %j before and after content', (frame, failure) => {
    const content = frames([chunk({ delta: { content: 'x' } })]);
    expect(run([frame]).reader).toMatchObject({
      failure: { kind: 'error', ...failure },
      contentSeen: false,
    });
    expect(run([content + frame])).toMatchObject({
      output: content,
      reader: { failure: { kind: 'error', ...failure } },
    });
  });

  it('does not take text about errors, usage or endings for the thing itself', () => {
    const said = [
      '"error":{"x":1}',
      '"usage":{"prompt_tokens":9}',
      '"finish_reason":"stop"',
      '[DONE]',
      'data: [DONE]',
    ];
    const payloads = [role, ...said.map((content) => chunk({ delta: { content } }))];
    const { output, reader } = run([frames(payloads)]);
    expect(output).toBe(frames(payloads));
    expect(reader).toMatchObject({ usage: undefined, failure: { kind: 'truncated' } });
  });

  it.each([
    ['not JSON', 'oops'],
    ['an array', '[1]'],
    ['half an object', '{"choices":[{'],
  ])('calls %s malformed before and after content', (_, payload) => {
    const content = frames([chunk({ delta: { content: 'x' } })]);
    expect(run([frames([payload])]).reader.failure?.kind).toBe('malformed');
    expect(run([content + frames([payload, DONE])])).toMatchObject({
      output: content,
      reader: { failure: { kind: 'malformed' }, ended: false },
    });
  });

  it('judges broken JSON within braces only before content', () => {
    const broken = '{"choices":[}';
    expect(run([frames([broken])]).reader.failure?.kind).toBe('malformed');
    const late = frames([chunk({ delta: { content: 'x' } }), broken]);
    expect(open().push(Buffer.from(late))?.toString()).toBe(late);
  });

  it.each([
    ['text', { delta: { content: 'x' } }, true],
    ['reasoning', { delta: { reasoning: 'x' } }, true],
    ['a tool call', { delta: { tool_calls: [{ index: 0 }] } }, true],
    ['a refusal', { delta: { refusal: 'no' } }, true],
    ['audio', { delta: { audio: { id: 'a' } } }, true],
    ['a finish reason alone', { finish: 'stop' }, true],
    ['a role', { delta: { role: 'assistant', content: '' } }, false],
    [
      'empty members',
      { delta: { content: null, tool_calls: [], refusal: null, audio: {} } },
      false,
    ],
    ['an empty finish reason', { delta: {}, finish: '' }, false],
  ])('sees content in %s: %#', (_, options, expected) => {
    expect(run([frames([chunk(options)])]).reader.contentSeen).toBe(expected);
  });

  it('is no answer when it ends before any content', () => {
    for (const payloads of [[DONE], [role, DONE], [role, usageChunk, DONE]]) {
      const { output, reader } = run([frames(payloads)]);
      expect(output).not.toContain(DONE);
      expect(reader).toMatchObject({ ended: false, failure: { kind: 'truncated' } });
    }
  });

  it('passes comments and events without data on behind content, and drops empty data', () => {
    const content = frames([chunk({ delta: { content: 'hi' } })]);
    const { output, reader } = run([content, ': hi\n\nevent: ping\n\ndata:\n\n']);
    expect(output).toBe(`${content}: hi\n\nevent: ping\n\n`);
    expect(reader).toMatchObject({ events: 4, failure: { kind: 'truncated' } });
  });

  it('forwards plain input without a copy', () => {
    const input = Buffer.from(frames(tools));
    const output = open().push(input);
    expect(output?.buffer).toBe(input.buffer);
    expect(output?.byteOffset).toBe(input.byteOffset);
  });

  it('measures text, reasoning and arguments, and nothing else', () => {
    const parts = [
      chunk({ delta: { role: 'assistant', content: '12345', reasoning_content: '123' } }),
      chunk({
        delta: {
          tool_calls: [
            {
              index: 0,
              id: 'call_x',
              type: 'function',
              function: { name: 'ab', arguments: '1234' },
            },
          ],
        },
      }),
      chunk({ delta: { content: '}"{' } }),
    ];
    expect(run([frames(parts)]).reader.outputChars).toBe(5 + 3 + 2 + 4 + 4);
    expect(run([frames(text)]).reader.outputChars).toBeGreaterThan(40);
  });

  it('replaces the model name when asked and nothing else', () => {
    const { output } = run([frames(text)], { keepUsage: true, logicalModel: 'acme/"x"' });
    expect(output).toBe(frames(text).replaceAll('"gpt-4o-2024-08-06"', JSON.stringify('acme/"x"')));
  });

  it('keeps the other fields of an event whose model name it replaces', () => {
    const [first = '', ...rest] = text;
    const named = `: hi\nevent: chunk\nid: 7\ndata: ${first}\n\n`;
    const split = `data: {"model":\ndata: "x","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n`;
    const { output } = run([named + split + frames(rest)], { logicalModel: 'a/b' });
    expect(output).toContain(named.replace('"gpt-4o-2024-08-06"', '"a/b"'));
    expect(output).toContain(split.replace('"x"', '"a/b"'));
  });

  it('stops at an event that is too large without keeping it', () => {
    const reader = open();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    let pushed = 0;
    while (reader.failure === undefined && pushed < 32) {
      reader.push(piece);
      pushed++;
    }
    expect(reader.failure?.kind).toBe('too_large');
    expect(pushed).toBe(17);
  });

  it('never throws on mutated streams and stays silent after its end', () => {
    const sources = Object.values(FIXTURES).map((write) =>
      Buffer.from(write({ end: '\n', gap: ' ' })),
    );
    const edit = fc.tuple(
      fc.nat(),
      fc.nat({ max: 3 }),
      fc.oneof(
        fc.uint8Array({ maxLength: 4 }),
        fc.constantFrom(
          ...['"', '{', '}', '\n', '\r', 'data:', '\\', '"error"', '"usage":{'].map((piece) =>
            Buffer.from(piece),
          ),
        ),
      ),
    );
    const input = fc.record({
      source: fc.constantFrom(...sources),
      edits: fc.array(edit, { maxLength: 6 }),
      size: fc.integer({ min: 1, max: 400 }),
      logicalModel: fc.constantFrom(undefined, 'a/b'),
    });
    fc.assert(
      fc.property(input, ({ source, edits, size, logicalModel }) => {
        let bytes = source;
        for (const [at, gone, put] of edits) {
          const place = at % (bytes.length + 1);
          bytes = Buffer.concat([bytes.subarray(0, place), put, bytes.subarray(place + gone)]);
        }
        const { output, reader } = run(cutEvery(bytes, size), { logicalModel });
        expect(output.match(/^data: \[DONE\]$/gm) ?? []).toHaveLength(reader.ended ? 1 : 0);
        expect(reader.ended).toBe(reader.failure === undefined);
        expect(reader.push(Buffer.from(frames(text)))).toBeUndefined();
        expect(reader.end()).toBeUndefined();
      }),
      { numRuns: runsOf(400, 1500) },
    );
  });
});
