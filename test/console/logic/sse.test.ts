import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventReader } from '../../../src/console/logic/sse.ts';

const read = (...pieces: string[]) => {
  const reader = new EventReader();
  return pieces.flatMap((piece) => reader.push(piece));
};
const only = (event: object) => [{ event: 'message', data: 'a', id: undefined, ...event }];

describe('the reader of server-sent events', () => {
  it.each([
    ['data: a\n\n', {}],
    ['data:a\n\n', {}],
    ['data:  a\n\n', { data: ' a' }],
    ['data: a:b\n\n', { data: 'a:b' }],
    ['data\n\n', { data: '' }],
    ['data:\ndata\ndata: b\n\n', { data: '\n\nb' }],
    ['event:e\ndata:a\n\n', { event: 'e' }],
    ['event\ndata: a\n\n', {}],
    ['id:7\ndata:a\n\n', { id: '7' }],
    [':event: e\ndata: a\n\n', {}],
    ['other: x\ndata: a\n\n', {}],
    ['data: a\r\n\r\n', {}],
  ])('takes %j', (text, event) => expect(read(text)).toEqual(only(event)));

  it('forgets the name of an event with it, and keeps the id', () => {
    expect(read('event: e\nid: 1\ndata: a\n\ndata: a\n\nid: 2\n\ndata: a\n\n')).toEqual([
      { event: 'e', data: 'a', id: '1' },
      { event: 'message', data: 'a', id: '1' },
      { event: 'message', data: 'a', id: '2' },
    ]);
  });

  it('forgets the name of an event that has no data', () => {
    expect(read('event: e\n\ndata: a\n\n')).toEqual(only({}));
  });

  it('gives nothing of an event before its end', () => {
    expect(read('data: a\n')).toEqual([]);
    expect(read('data: a', '\n', '\n')).toEqual(only({}));
  });

  it('reads the same wherever the text is cut', () => {
    const line = fc.constantFrom('data: a', 'data:b', 'event: e', 'id: 1', ': note', '', 'x');
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(80), { maxLength: 5 }), (lines, cuts) => {
        const text = lines.map((one) => `${one}\n`).join('');
        const edges = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length];
        edges.sort((a, b) => a - b);
        const pieces = edges.slice(1).map((edge, index) => text.slice(edges[index], edge));
        expect(read(...pieces)).toEqual(read(text));
      }),
    );
  });
});
