import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { ActiveExchanges } from '../../../src/inference/active-exchanges.ts';
import type { HttpExchange } from '../../../src/surfaces/http-exchange.ts';
import { listContentTasks } from '../../../src/tasks/videos/video-lists.ts';
import { VideoContent } from '../../../src/tasks/videos/video-content.ts';
import { createVideoHandlers } from '../../../src/tasks/videos/video-handlers.ts';
import type { VideoRecord } from '../../../src/tasks/videos/video-record.ts';
import type { VideoService } from '../../../src/tasks/videos/video-task.ts';
import { fakeRoute } from '../../support/catalog.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { principal } from '../../usage/usage-fixtures.ts';

const responseOf = (closed: boolean): ServerResponse =>
  Object.assign(new EventEmitter(), { closed, destroyed: closed }) as unknown as ServerResponse;

it('gives the place of a request back when its client left while its key was looked up', async () => {
  let inFlight = 0;
  const { list } = createVideoHandlers(
    { rows: { list: async () => [] } } as unknown as VideoService,
    {
      publicUrl: undefined,
      inference: { clock: createFakeClock(), active: new ActiveExchanges() } as never,
      repository: {} as never,
      lookup: () => ({ ...principal(), concurrencyCap: 1 }),
      rates: { isPlatformFull: () => false, admitPlatform: () => true, admitKey: () => true },
      concurrency: { enter: () => (inFlight++, () => void inFlight--) },
    },
  );
  for (const closed of [true, false]) {
    const response = responseOf(closed);
    const request = { headers: { authorization: 'Bearer sk-1' } };
    const exchange = { request, response, path: '/v1/videos', search: '' };
    await list(exchange as unknown as HttpExchange);
    expect(inFlight).toBe(closed ? 0 : 1);
    response.emit('close');
    expect(inFlight).toBe(0);
  }
});

it('asks for no content on behalf of a client that has left', async () => {
  const clock = createFakeClock();
  const active = new ActiveExchanges();
  let aborted = 0;
  const refused = new Promise((_resolve, reject) => {
    const content = new VideoContent({
      clock,
      route: fakeRoute('a'),
      response: responseOf(true),
      active,
      resolve: () => undefined,
      reject,
    });
    content.attach({
      abort: () => void aborted++,
      pause: () => undefined,
      resume: () => undefined,
    });
  });
  await expect(refused).rejects.toMatchObject({ code: 'upstream_interrupted' });
  expect(aborted).toBe(1);
  expect(active.size).toBe(0);
  expect(clock.pending).toBe(0);
});

it('lists one page of the tasks that match and counts all of them', async () => {
  const records = Array.from({ length: 450 }, (_, index) => ({
    id: `video_${String(index).padStart(4, '0')}`,
    at: 0,
    updatedAt: 0,
    model: index % 2 === 0 ? 'v/film' : 'v/other',
    askedSeconds: null,
    video: { state: 'queued', seconds: null },
  })) as unknown as VideoRecord[];
  const rows = {
    async list(_organization: string, { after, limit }: { after?: string; limit: number }) {
      const from = after === undefined ? 0 : records.findIndex(({ id }) => id === after) + 1;
      return records.slice(from, from + limit);
    },
  } as unknown as VideoService['rows'];
  const query = new URLSearchParams({
    page_num: '3',
    page_size: '100',
    'filter.model': 'v/film',
  });
  const { items, total } = (await listContentTasks(rows, 'org_1', { query, origin: '' })) as {
    items: { id: string }[];
    total: number;
  };
  expect(total).toBe(225);
  expect(items.map(({ id }) => id)).toEqual(
    records
      .filter(({ model }) => model === 'v/film')
      .slice(200)
      .map(({ id }) => id),
  );
});
