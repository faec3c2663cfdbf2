import { describe, expect, it } from 'vitest';
import { EventReader } from '../../../src/console/logic/sse.ts';
import { Hub } from '../../../src/console/stream/hub.ts';
import { mergeQueries } from '../../../src/console/stream/merge-queries.ts';
import type { HubMessage } from '../../../src/console/stream/messages.ts';

describe('server-sent events', () => {
  const text = ': hello\n\nevent: requests\nid: 1\ndata: [1]\n\ndata: a\ndata: b\r\n\r\n';

  it.each([1, 3, 1_000])('are read by pieces of %i bytes', (size) => {
    const reader = new EventReader();
    const found = [];
    for (let at = 0; at < text.length; at += size)
      found.push(...reader.push(text.slice(at, at + size)));
    expect(found).toEqual([
      { event: 'requests', data: '[1]', id: '1' },
      { event: 'message', data: 'a\nb', id: '1' },
    ]);
  });
});

describe('the query of one stream for several tabs', () => {
  it('is what all have in common', () => {
    expect(mergeQueries([{ status: 'error', limit: '200' }])).toEqual({
      status: 'error',
      limit: '200',
    });
    expect(
      mergeQueries([
        { status: 'error', from: '2026-02', limit: '200' },
        { from: '2026-01', limit: '200' },
      ]),
    ).toEqual({ from: '2026-01', limit: '1000' });
  });

  it('asks for no more rows where only the time differs', () => {
    const queries: Record<string, string>[] = [{ from: '2026-02', limit: '200' }, { limit: '200' }];
    expect(mergeQueries(queries)).toEqual({ limit: '200' });
  });
});

const PATH = '/v1/account/executions/events';

/** A server of streams whose ends are in the hand of the test. */
function open() {
  const opened: {
    url: string;
    session: string;
    lastId: string | undefined;
    send(text: string): void;
    cut(): void;
  }[] = [];
  const waits: (() => void)[] = [];
  let closed = 0;
  const hub = new Hub({
    open: async ({ url, session }, lastId, signal) => {
      let control!: ReadableStreamDefaultController<Uint8Array>;
      const body = new ReadableStream<Uint8Array>({ start: (one) => void (control = one) });
      signal.addEventListener('abort', () => {
        closed++;
        control.error(new Error('aborted'));
      });
      const send = (text: string): void => control.enqueue(new TextEncoder().encode(text));
      opened.push({ url, session, lastId, send, cut: () => control.close() });
      return new Response(body);
    },
    sleep: () => new Promise((resolve) => waits.push(resolve)),
  });
  const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const tab = (name: string, query: Record<string, string> = {}) => {
    const messages: HubMessage[] = [];
    const want = (read?: { epoch: number; seq: number }, session = 'a'): void =>
      hub.take({ tab: name, wants: [{ path: PATH, session, query, read }] }, (told) =>
        messages.push(told),
      );
    return { messages, want, hide: () => hub.take({ tab: name, wants: [] }, () => undefined) };
  };
  const data = (messages: readonly HubMessage[]): unknown[] =>
    messages.flatMap((told) => (told.type === 'event' ? [told.data] : []));
  return { hub, opened, waits, rest, tab, data, closed: () => closed };
}

describe('the streams of a browser', () => {
  it('are one for all tabs, which all get what comes', async () => {
    const { opened, tab, rest, data } = open();
    const [first, second] = [tab('a'), tab('b')];
    first.want();
    await rest();
    opened[0]?.send('id: 1\ndata: [1]\n\n');
    await rest();
    second.want();
    opened[0]?.send('id: 2\ndata: [2]\n\n');
    await rest();
    expect(opened).toHaveLength(1);
    expect(data(first.messages)).toEqual([[1], [2]]);
    expect(data(second.messages)).toEqual([[1], [2]]);
  });

  it('serve a tab whose span begins later, and are opened anew for an earlier one', async () => {
    const { opened, tab, rest, closed } = open();
    tab('a', { from: '2026-02', limit: '200' }).want();
    await rest();
    tab('b', { from: '2026-03', limit: '200' }).want();
    await rest();
    expect([opened.length, closed()]).toEqual([1, 0]);
    tab('c', { from: '2026-01', limit: '200' }).want();
    expect([opened.length, closed()]).toEqual([1, 1]);
    await rest();
    expect(opened.map(({ url }) => url.split('?')[1])).toEqual([
      'from=2026-02&limit=200',
      'from=2026-01&limit=200',
    ]);
  });

  it('are closed while every tab is hidden or gone', async () => {
    const { hub, tab, rest, closed } = open();
    const [first, second] = [tab('a'), tab('b')];
    first.want();
    second.want();
    await rest();
    first.hide();
    expect(closed()).toBe(0);
    hub.leave('b');
    expect(closed()).toBe(1);
  });

  it('go on behind the last event where they were cut', async () => {
    const { opened, waits, tab, rest, data } = open();
    const only = tab('a');
    only.want();
    await rest();
    opened[0]?.send('id: 7\ndata: [7]\n\n');
    await rest();
    opened[0]?.cut();
    await rest();
    expect(only.messages.at(-1)).toMatchObject({ type: 'state', state: 'cut' });
    waits[0]?.();
    await rest();
    expect(opened[1]?.lastId).toBe('7');
    opened[1]?.send('id: 8\ndata: [8]\n\n');
    await rest();
    expect(data(only.messages)).toEqual([[7], [8]]);
  });

  it('tell a tab that comes back what it missed, and no more', async () => {
    const { opened, tab, rest, data } = open();
    const [stays, leaves] = [tab('a'), tab('b')];
    stays.want();
    leaves.want();
    await rest();
    opened[0]?.send('data: [1]\n\n');
    await rest();
    const last = leaves.messages.at(-1);
    leaves.hide();
    opened[0]?.send('data: [2]\n\n');
    await rest();
    leaves.want(last && 'place' in last ? last.place : undefined);
    expect(data(leaves.messages)).toEqual([[1], [2]]);
    expect(leaves.messages.filter(({ type }) => type === 'reset')).toEqual([]);
  });

  it('tell a tab to begin anew where what it missed is not known', async () => {
    const { tab, rest } = open();
    const only = tab('a');
    only.want();
    await rest();
    only.hide();
    only.want({ epoch: 1, seq: 0 });
    expect(only.messages.some(({ type }) => type === 'reset')).toBe(true);
  });

  it('are one for each session, which gets nothing of what another one saw', async () => {
    const { opened, tab, rest, data } = open();
    const [first, second] = [tab('a'), tab('b')];
    first.want();
    await rest();
    opened[0]?.send('id: 1\ndata: [1]\n\n');
    await rest();
    second.want(undefined, 'other');
    await rest();
    opened[0]?.send('id: 2\ndata: [2]\n\n');
    opened[1]?.send('id: 9\ndata: [9]\n\n');
    await rest();
    expect(opened.map(({ session, lastId }) => [session, lastId])).toEqual([
      ['a', undefined],
      ['other', undefined],
    ]);
    expect(data(first.messages)).toEqual([[1], [2]]);
    expect(data(second.messages)).toEqual([[9]]);
    expect(second.messages.every(({ session }) => session === 'other')).toBe(true);
  });

  it('begin anew for a tab that signs in again', async () => {
    const { opened, tab, rest, data, closed } = open();
    const only = tab('a');
    only.want();
    await rest();
    opened[0]?.send('id: 1\ndata: [1]\n\n');
    await rest();
    only.want(undefined, 'later');
    await rest();
    expect([opened.length, closed(), opened[1]?.lastId]).toEqual([2, 1, undefined]);
    expect(data(only.messages)).toEqual([[1]]);
  });

  it('end with the session, and say so', async () => {
    const messages: HubMessage[] = [];
    const hub = new Hub({
      open: async () => Response.json({ error: { message: 'sign in again' } }, { status: 401 }),
      sleep: async () => undefined,
    });
    hub.take({ tab: 'a', wants: [{ path: PATH, session: 'a', query: {} }] }, (told) =>
      messages.push(told),
    );
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(messages.at(-1)).toMatchObject({ state: 'signed_out', message: 'sign in again' });
  });
});
