import { expect, it } from 'vitest';
import { createIdSource } from '../../../../src/core/ids.ts';
import { RequestChange } from '../../../../src/usage/requests/live/request-change.ts';
import { MAX_ROWS, RequestChannel } from '../../../../src/usage/requests/live/request-channel.ts';
import type { ChannelFrame } from '../../../../src/usage/requests/live/request-channel.ts';
import type {
  FeedListener,
  RequestFeed,
} from '../../../../src/usage/requests/live/request-feed.ts';
import type { RequestFilter } from '../../../../src/usage/requests/request-log.ts';
import { toEndRow, toStartRow } from '../../../../src/usage/requests/request-row.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { outcome, principal } from '../../usage-fixtures.ts';

async function setup(filter: RequestFilter = {}, streams = 1) {
  const clock = createFakeClock();
  const ids = createIdSource(clock);
  let listener: FeedListener | undefined;
  let views = 0;
  const feed = {
    async listen(given: FeedListener) {
      listener = given;
      return () => (listener = undefined);
    },
    inFlight: () => [],
  } as unknown as RequestFeed;
  const view = (record: object): object => ((views += 1), record);
  const channel = new RequestChannel({ feed, clock, filter, view });
  const frames: (ChannelFrame | undefined)[][] = Array.from({ length: streams }, () => []);
  const subscribers = frames.map((taken) => ({
    take: (frame: ChannelFrame | undefined) => void taken.push(frame),
  }));
  for (const subscriber of subscribers) await channel.join(subscriber);
  const start = (model: string) =>
    toStartRow({ at: clock.now(), principal: principal(), surface: 'chat', model, stream: false });
  return {
    clock,
    channel,
    frames,
    subscribers,
    views: () => views,
    isListening: () => listener !== undefined,
    tell: (...changes: RequestChange[]) => listener?.(changes),
    begun: (model = 'acme/one', id = ids.next('req')) => new RequestChange(id, start(model)),
    ended: ({ id, start: row }: RequestChange) =>
      new RequestChange(id, row, toEndRow(row, outcome(), true)),
  };
}

const rowsOf = (frame: ChannelFrame | undefined): string[] =>
  frame?.changes.map(({ id, end }) => `${id} ${end ? 'ended' : 'begun'}`) ?? [];

it('writes a row once for all streams with one filter', async () => {
  const { frames, tell, begun, views } = await setup({}, 10);
  const change = begun();
  tell(change);
  const [first] = frames.map(([frame]) => frame?.bytes);
  expect(first?.toString()).toContain(change.id);
  for (const [frame] of frames) expect(frame?.bytes).toBe(first);
  expect(views()).toBe(1);
});

it('lets through what the filter needs', async () => {
  const { frames, tell, begun, ended } = await setup({ model: 'acme/one', status: 'ok' });
  const [mine, other] = [begun(), begun('acme/two')];
  tell(mine, other);
  tell(ended(other));
  expect(frames).toEqual([[]]);
  tell(ended(mine));
  expect(frames[0]?.map(rowsOf)).toEqual([[`${mine.id} ended`]]);
});

it('tells once more of a pending row that has ended', async () => {
  const { frames, tell, begun, ended } = await setup({ status: 'pending' });
  const one = begun();
  tell(one);
  tell(ended(one));
  tell(ended(begun()));
  expect(frames[0]?.map(rowsOf)).toEqual([[`${one.id} begun`], [`${one.id} ended`]]);
});

it('moves the cursor on in silence, and tells of more rows than a frame may hold', async () => {
  const { clock, frames, tell, begun } = await setup();
  clock.advance(10_000);
  expect(frames[0]?.[0]?.bytes.toString()).toMatch(/^id: v1\.\S+\n\n$/);
  tell(...Array.from({ length: MAX_ROWS + 1 }, () => begun()));
  expect(frames[0]?.[1]).toBeUndefined();
});

it('listens for as long as somebody follows', async () => {
  const { clock, channel, subscribers, isListening } = await setup({}, 2);
  const [one, other] = subscribers;
  if (one) channel.leave(one);
  expect(isListening()).toBe(true);
  if (other) channel.leave(other);
  await Promise.resolve();
  await Promise.resolve();
  expect([isListening(), clock.pending]).toEqual([false, 0]);
});
