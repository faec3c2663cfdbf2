import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SseBatch } from '../../../src/core/sse/batch.ts';
import { formatSse } from '../../../src/core/sse/frame.ts';
import { createSseFramer } from '../../../src/core/sse/sse.ts';
import { cutAt, cutEvery } from './cuts.ts';

interface Seen {
  raw: string;
  data: string | undefined;
  event: string | undefined;
}

function frames(chunks: readonly (string | Uint8Array)[], maxFrameBytes?: number): Seen[] {
  const framer = createSseFramer(maxFrameBytes === undefined ? {} : { maxFrameBytes });
  const seen = chunks.flatMap((chunk) => framer.push(Buffer.from(chunk)));
  return seen.map(({ raw, data, event }) => ({ raw: raw.toString(), data, event }));
}

/** What a whole stream says, and its bytes as they are handed out. */
function toTheEnd(chunks: readonly (string | Uint8Array)[]) {
  const framer = createSseFramer();
  const seen = chunks.flatMap((chunk) => framer.push(Buffer.from(chunk)));
  const last = framer.end();
  const all = last ? [...seen, last] : seen;
  const said = all.filter(({ data, event }) => data !== undefined || event !== undefined);
  return {
    said: said.map(({ data, event }) => ({ data, event })),
    bytes: Buffer.concat(all.map(({ raw }) => raw)).toString(),
  };
}

describe('createSseFramer', () => {
  it('hands out the very bytes of canonical frames', () => {
    const chunk = Buffer.from('data: {"a":1}\n\nevent: ping\ndata: {}\n\n: hello\n\n');
    const framed = createSseFramer().push(chunk);
    expect(framed.map(({ source }) => source === chunk)).toEqual([true, true, true]);
    expect(Buffer.concat(framed.map(({ raw }) => raw)).equals(chunk)).toBe(true);
  });

  it.each([
    ['data:x\n\n', 'x'],
    ['data:  x\n\n', ' x'],
    ['data\n\n', ''],
    ['data:a\ndata: b\n\n', 'a\nb'],
    ['data: a\rdata: b\n\n', 'a\nb'],
    ['data: x\nevent:e\nid: 7\n\n', 'x'],
    ['event: e\ndata: x\n\n', 'x'],
    ['event: e\r\ndata: x\r\n\r\n', 'x'],
    ['retry: 10\n\n', undefined],
    [':c\ndata:x\nfoo: bar\n\n', 'x'],
    ['event: ü\ndata: ü\n\n', 'ü'],
  ])('reads %j and keeps its bytes', (input, data) => {
    expect(frames([input])).toMatchObject([{ raw: input, data }]);
  });

  it('tells where the data stands that is one line, and whether it is all', () => {
    const framer = createSseFramer();
    const lines = 'data: x\n\ndata:x\r\n\r\n: c\ndata: x\n\nevent: e\ndata: x\n\n';
    for (const { source, payload, payloadStart = 0, isBare, start } of framer.push(
      Buffer.from(lines),
    )) {
      expect(source.toString('latin1', payloadStart, payloadStart + 1)).toBe(payload);
      expect(isBare).toBe(source.toString('latin1', start, start + 5) === 'data:');
    }
    expect(framer.push(Buffer.from('data: a\ndata: b\n\n'))[0]?.payloadStart).toBeUndefined();
  });

  it('skips a byte order mark, and tells nothing of blank lines and unknown fields', () => {
    const said = frames(['\uFEFF\n\nfoo: bar\n\n\n\ndata: x\n\n\n']);
    expect(said.map(({ raw, data }) => [raw, data])).toEqual([
      ['\n\n', undefined],
      ['foo: bar\n\n', undefined],
      ['\n\n', undefined],
      ['data: x\n\n', 'x'],
      ['\n', undefined],
    ]);
    expect(frames(cutEvery(Buffer.from('\uFEFFdata: x\n\n'), 1))).toMatchObject([{ data: 'x' }]);
    expect(frames(['data: \uFEFFx\n\n'])).toMatchObject([{ data: '\uFEFFx' }]);
  });

  it('waits for the LF behind a CR, but not where lines end in CR alone', () => {
    expect(frames(['data: x\r\n\r'])).toHaveLength(0);
    expect(frames(['data: x\r\r'])).toHaveLength(1);
    const said = frames(['data: x\r\n\r', '\n', '\r\ndata: y\r', '\r']);
    expect(said.flatMap(({ data }) => data ?? [])).toEqual(['x', 'y']);
    expect(frames(['data: x\r', 'data: y\r\r'])).toMatchObject([{ data: 'x\ny' }]);
    const framer = createSseFramer();
    framer.push(Buffer.from('data: x\r\n\r'));
    expect(framer.end()?.raw.toString()).toBe('data: x\r\n\r');
  });

  it.each(['\n', '\r\n', '\r'])(
    'gives the same frames when the bytes are cut at any two places, with lines that end in %j',
    (lineEnd) => {
      const lines =
        '\uFEFF: c\n\ndata:a\ndata: ü🌍\n\n\nevent: e\nid:7\ndata: {}\n\nretry:5\n\ndata: z';
      const bytes = Buffer.from(lines.replaceAll('\n', lineEnd));
      const expected = toTheEnd([bytes]);
      expect(expected.said.map(({ data }) => data)).toEqual(['a\nü🌍', '{}', 'z']);
      const readings = new Set<string>();
      for (let first = 0; first <= bytes.length; first++)
        for (let second = first; second <= bytes.length; second++)
          readings.add(JSON.stringify(toTheEnd(cutAt(bytes, [first, second]))));
      expect([...readings]).toEqual([JSON.stringify(expected)]);
    },
  );

  it('gives the same frames for any content, framing and splitting', () => {
    const line = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, '')),
      fc.constantFrom(
        'data',
        'event:e',
        'id:1',
        ':',
        ': c',
        'data:{"a":"😀"}',
        'retry:5',
        'x'.repeat(300),
      ),
    );
    const block = fc.array(
      fc.oneof(
        line,
        line.map((text) => `data:${text}`),
      ),
      { maxLength: 4 },
    );
    const ends = fc.infiniteStream(fc.constantFrom('\n', '\r', '\r\n'));
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(fc.array(block, { maxLength: 6 }), ends, sizes, (blocks, lineEnds, lengths) => {
        const lines = blocks.flatMap((texts) => [...texts.filter((text) => text !== ''), '']);
        const expected = toTheEnd([lines.map((text) => `${text}\n`).join('')]);
        // A lone CR in front of an empty line's LF would read as CRLF: pair the ends as a server would.
        let framed = '';
        for (const text of lines) {
          const end = lineEnds.next().value;
          framed += text + (framed.endsWith('\r') && text === '' && end === '\n' ? '\r' : end);
        }
        const bytes = Buffer.from(framed);
        const chunks: Buffer[] = [];
        for (let at = 0, index = 0; at < bytes.length; index++) {
          const size = lengths[index % lengths.length] ?? 1;
          chunks.push(bytes.subarray(at, (at += size)));
        }
        expect(toTheEnd(chunks)).toEqual({ ...expected, bytes: framed });
      }),
      { numRuns: 1000 },
    );
  });

  it('delivers the unfinished last block only on request', () => {
    const framer = createSseFramer();
    expect(framer.push(Buffer.from('data: x\n\ndata: y\n'))).toHaveLength(1);
    expect(framer.end()?.data).toBe('y');
    expect(framer.end()).toBeUndefined();
  });

  it('refuses a frame over the limit wherever it is cut, and keeps those in front', () => {
    const bytes = Buffer.from(`data: ok\n\ndata: ${'x'.repeat(100)}\n\ndata: late\n\n`);
    for (const size of [1, 3, 50, 1000]) {
      const framer = createSseFramer({ maxFrameBytes: 64 });
      const seen = cutEvery(bytes, size).flatMap((chunk) => framer.push(chunk));
      expect(seen.map(({ data }) => data)).toEqual(['ok']);
      expect(framer.overflowed).toBe(true);
      expect(framer.end()).toBeUndefined();
    }
    expect(frames(cutEvery(bytes, 5), 108)).toHaveLength(3);
  });

  it('copies a large frame in many small chunks a few times, not once for each', () => {
    const allocate = vi.spyOn(Buffer, 'allocUnsafe');
    onTestFinished(() => allocate.mockRestore());
    const text = 'x'.repeat(30_000);
    expect(frames(cutEvery(Buffer.from(`data: ${text}\n\n`), 1))).toMatchObject([{ data: text }]);
    const copied = allocate.mock.calls.reduce((sum, [size]) => sum + size, 0);
    expect(copied).toBeGreaterThan(text.length);
    expect(copied).toBeLessThan(10 * text.length);
  });
});

describe('formatSse', () => {
  it('writes what the framer reads back', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(text, fc.stringMatching(/^[a-z._]+$/), (data, event) => {
        const [frame] = createSseFramer().push(formatSse({ event, data }));
        expect(frame?.data).toBe(data.replace(/\r\n?/g, '\n'));
        expect(frame?.event).toBe(event);
      }),
    );
  });

  it('keeps line breaks in names from making fields', () => {
    expect(formatSse({ event: 'a\ndata: x', id: '1\r\n2', data: 'y' }).toString()).toBe(
      'event: a data: x\nid: 1 2\ndata: y\n\n',
    );
  });
});

describe('SseBatch', () => {
  it('joins neighbours without a copy and copies only over gaps', () => {
    const chunk = Buffer.from('data: a\n\ndata: b\n\ndata: c\n\n');
    const [a, b, c] = createSseFramer().push(chunk);
    const whole = new SseBatch();
    for (const frame of [a, b, c]) if (frame !== undefined) whole.add(frame);
    expect(whole.bytes()?.buffer).toBe(chunk.buffer);
    expect(whole.bytes()?.equals(chunk)).toBe(true);
    const gap = new SseBatch();
    for (const frame of [a, c]) if (frame !== undefined) gap.add(frame);
    expect(gap.bytes()?.toString()).toBe('data: a\n\ndata: c\n\n');
    expect(new SseBatch().bytes()).toBeUndefined();
  });
});
