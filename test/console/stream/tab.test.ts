import { afterEach, expect, it, vi } from 'vitest';
import type { HubMessage } from '../../../src/console/stream/messages.ts';
import { createStreams } from '../../../src/console/stream/tab.ts';

const PATH = '/v1/account/executions/events';

afterEach(() => void vi.unstubAllGlobals());

it('asks for the session that is signed in, and tells no page of another one', async () => {
  const asked: unknown[] = [];
  let session = 'first';
  vi.stubGlobal('window', new EventTarget());
  vi.stubGlobal('fetch', async (_url: string, { headers }: { headers: Record<string, string> }) => {
    const name = headers['x-gateway-console-session'];
    asked.push(name);
    const row = new TextEncoder().encode(`event: requests\ndata: ["${name}"]\n\n`);
    return new Response(new ReadableStream({ start: (control) => control.enqueue(row) }));
  });
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const streams = createStreams(page as unknown as Document, () => session);
  const subscribe = () => {
    const told: unknown[] = [];
    const onMessage = (message: HubMessage): void => {
      if (message.type === 'event') told.push(message.data);
    };
    return { told, end: streams.subscribe({ path: PATH, query: {}, onMessage }) };
  };
  const first = subscribe();
  await vi.waitFor(() => expect(first.told).toEqual([['first']]));
  session = 'second';
  const second = subscribe();
  await vi.waitFor(() => expect(second.told).toEqual([['second']]));
  expect(first.told).toEqual([['first']]);
  expect(asked).toEqual(['first', 'second']);
  first.end();
  second.end();
});
