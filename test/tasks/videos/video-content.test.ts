import { Buffer } from 'node:buffer';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { ActiveExchanges } from '../../../src/inference/active-exchanges.ts';
import type { CallResult } from '../../../src/inference/types.ts';
import { VideoContent } from '../../../src/tasks/videos/video-content.ts';
import { fakeRoute } from '../../support/catalog.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const PIECE = Buffer.alloc(1_000, 1);

/** The content of a video on its way to a client that takes a piece when the test says so. */
function setUp() {
  const clock = createFakeClock();
  const route = fakeRoute('studio');
  const active = new ActiveExchanges();
  const calls: string[] = [];
  const response = Object.assign(new EventEmitter(), { destroy: () => calls.push('destroyed') });
  let taken = (): void => undefined;
  const client = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => void (taken = done),
  });
  let result: CallResult | undefined;
  const content = new VideoContent({
    clock,
    route,
    active,
    response: response as unknown as ServerResponse,
    resolve: (answer) => void (result = answer),
    reject: () => undefined,
  });
  const note = (what: string) => () => void calls.push(what);
  content.attach({ abort: note('abort'), pause: note('pause'), resume: note('resume') });
  content.onHead(200, {});
  if (result?.type === 'stream') result.body.pipe(client);
  const take = async (): Promise<void> => {
    taken();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, content, active, calls, take, mostMs: route.timeouts.total };
}

it('is given up for a client that takes nothing for as long as a call may last', async () => {
  const { clock, content, active, calls, take, mostMs } = setUp();
  for (let pieces = 0; pieces < 3; pieces++) {
    content.onData(PIECE);
    clock.advance(mostMs - 1);
    await take();
  }
  expect(calls).toEqual(['pause', 'resume', 'pause', 'resume', 'pause', 'resume']);
  content.onData(PIECE);
  clock.advance(mostMs);
  expect(calls.slice(6)).toEqual(['pause', 'abort', 'destroyed']);
  expect([active.size, clock.pending]).toEqual([0, 0]);
});
