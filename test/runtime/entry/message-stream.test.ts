import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createMessageStream } from '../../../src/runtime/entry/message-stream.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

it('wakes everybody who waits for a slow client', async () => {
  const caller = {
    signal: new AbortController().signal,
    isGone: false,
    onGone: () => undefined,
    done: () => undefined,
  };
  const stream = createMessageStream('sse', { clock: createFakeClock(), caller });
  if (!('type' in stream.reply) || stream.reply.type !== 'stream') throw new Error('no stream');
  const client = new PassThrough({ highWaterMark: 1 });
  stream.reply.body.pipe(client);
  const both = Promise.all([stream.write({ a: 1 }, 'x'), stream.write({ b: 2 })]);
  let text = '';
  client.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await both;
  stream.end();
  expect(text).toContain('event: message\nid: x\ndata: {"a":1}\n\nevent: message\ndata: {"b":2}');
});
