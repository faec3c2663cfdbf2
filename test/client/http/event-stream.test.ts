import { describe, expect, it } from 'vitest';
import { eventData, streamedEvents } from '../../../src/client/http/event-stream.ts';
import { ClientError } from '../../../src/client/http/client-error.ts';
import { collect } from '../../../src/client/http/pages.ts';
import { streamOf } from '../support.ts';

const read = (...texts: string[]) => collect(streamedEvents(streamOf(texts)));
const only = (event: object) => [{ event: undefined, id: undefined, data: undefined, ...event }];

describe('a stream of events', () => {
  it.each([
    ['data: a\n\n', { data: 'a' }],
    ['data:a\n\n', { data: 'a' }],
    ['data:  a \n\n', { data: ' a ' }],
    ['data:\n\n', { data: '' }],
    ['data: a\ndata: b\n\n', { data: 'a\nb' }],
    ['event: e\nid: 1\ndata: a\n\n', { event: 'e', id: '1', data: 'a' }],
    ['id: 1\n\n', { id: '1' }],
    ['event:e\nid:1\n\n', { event: 'e', id: '1' }],
    [': note\nretry: 5\ndata: a\n\n', { data: 'a' }],
    ['data: a\r\rdata', { data: 'a' }],
    ['data: a\r\n\r\n', { data: 'a' }],
  ])('%j gives one block', async (text, event) => {
    expect(await read(text)).toEqual(only(event));
  });

  it('gives the same wherever it is cut, a character in two included', async () => {
    const text =
      'id: 1\r\nevent: é\r\ndata: 日本\r\ndata: b\r\n\r\nid: 2\n\ndata: c\r\rdata: d\n\n';
    const bytes = new TextEncoder().encode(text);
    const whole = await read(text);
    expect(whole).toHaveLength(4);
    for (let at = 1; at < bytes.length; at++) {
      const parts = [bytes.subarray(0, at), bytes.subarray(at)];
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const part = parts.shift();
          if (part) controller.enqueue(part);
          else controller.close();
        },
      });
      expect(await collect(streamedEvents(body))).toEqual(whole);
    }
  });

  it('drops a block without an end, and one that has neither data nor id', async () => {
    expect(await read('event: e\n\ndata: a\n')).toEqual([]);
    expect(await read('event: e\n\ndata: a\n\n')).toEqual(only({ data: 'a' }));
  });

  it('gives the data alone', async () => {
    const body = streamOf(['id: 1\n\nevent: e\ndata: a\n\n', 'data: b\n\n']);
    expect(await collect(eventData(body))).toEqual(['a', 'b']);
  });

  it('is lost where the connection breaks', async () => {
    const events = collect(streamedEvents(streamOf(['data: a\n\n'], true)));
    await expect(events).rejects.toMatchObject({
      code: 'connection_lost',
      message: 'the stream was cut',
    });
  });

  const brokenBy = (error: Error) =>
    new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(error) });

  it('ends as what broke it says', async () => {
    const stopped = brokenBy(new DOMException('stopped', 'AbortError'));
    await expect(collect(eventData(stopped))).rejects.toMatchObject({ code: 'aborted' });
    const told = new ClientError({ code: 'timeout', message: 'too late' });
    await expect(collect(eventData(brokenBy(told)))).rejects.toBe(told);
  });

  it('takes no line without an end', async () => {
    const piece = 'x'.repeat(5 * 1024 * 1024);
    const within = streamOf(['data: ', piece, piece, piece, '\n\n']);
    expect((await collect(eventData(within)))[0]?.length).toBe(3 * piece.length);
    const beyond = streamOf(['data: ', piece, piece, piece, piece]);
    await expect(collect(eventData(beyond))).rejects.toMatchObject({
      code: 'connection_lost',
      message: 'a line of the stream is too long',
    });
  });

  it('closes the connection where its reader leaves', async () => {
    let isClosed = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: a\n\n')),
      cancel: () => void (isClosed = true),
    });
    for await (const data of eventData(body)) if (data === 'a') break;
    expect(isClosed).toBe(true);
  });
});
