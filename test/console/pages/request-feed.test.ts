import { describe, expect, it } from 'vitest';
import type { Sent } from '../../../src/console/api/call.ts';
import type { Page, RequestRow } from '../../../src/console/api/views.ts';
import { RequestFeed } from '../../../src/console/pages/requests/request-feed.ts';
import type { FeedDeps } from '../../../src/console/pages/requests/request-feed.ts';
import type { HubMessage } from '../../../src/console/stream/messages.ts';

const CHANNEL = { path: '/admin/v1/requests/events', session: 'a' } as const;
const idOf = (at: number): string => `req_${String(at).padStart(5, '0')}`;
const timeOf = (at: number): string => new Date(1_700_000_000_000 + at * 1_000).toISOString();

/** Rows of the moments before one, newest first. */
function rowsBefore(end: number, count: number): RequestRow[] {
  return Array.from({ length: count }, (_, index) => {
    const at = end - 1 - index;
    const row = { id: idOf(at), created_at: timeOf(at), key: { id: 'k', name: 'k' }, model: 'm' };
    return { ...row, alias: null, result: 'ok', status: 200 } as unknown as RequestRow;
  });
}

/** A feed whose stream and whose answers are in the hand of the test. */
function setUp() {
  let tell!: (message: HubMessage) => void;
  const asked: unknown[] = [];
  const answers: ((page: Page<RequestRow>) => void)[] = [];
  const failures: ((reason: Error) => void)[] = [];
  const json = (_path: string, { query }: Sent): Promise<Page<RequestRow>> => {
    asked.push(query);
    return new Promise((resolve, reject) => {
      answers.push(resolve);
      failures.push(reject);
    });
  };
  const feed = new RequestFeed('', '', {
    api: { json } as FeedDeps['api'],
    streams: {
      subscribe: ({ onMessage }) => {
        tell = onMessage;
        return () => undefined;
      },
    },
    isAdmin: true,
    now: 0,
    onState: () => undefined,
  });
  feed.open();
  const put = (data: RequestRow[], seq = 1, epoch = 1): void =>
    tell({ type: 'event', ...CHANNEL, event: 'requests', data, place: { epoch, seq } });
  /** Replaces all rows, as for a tab that comes back after long. */
  const replace = (data: RequestRow[]): void => {
    tell({ type: 'reset', ...CHANNEL, place: { epoch: 2, seq: 0 } });
    put(data, 1, 2);
  };
  const shown = (): string[] => feed.rows.value.map(({ id }) => id);
  return { feed, asked, answers, failures, put, replace, shown };
}

describe('rows that replace those of before', () => {
  it('have older ones, although the former had none', async () => {
    const { feed, asked, answers, put, replace } = setUp();
    put(rowsBefore(50, 50));
    expect(feed.hasOlder.value).toBe(false);
    replace(rowsBefore(400, 200));
    expect(feed.hasOlder.value).toBe(true);
    const loading = feed.loadOlder();
    answers[0]?.({ data: rowsBefore(200, 200), next_page: null });
    await loading;
    expect(asked).toEqual([
      { to: new Date(Date.parse(timeOf(200)) + 1).toISOString(), limit: 200 },
    ]);
    expect(feed.rows.value).toHaveLength(400);
    expect(feed.hasOlder.value).toBe(false);
  });

  it('are gone on behind from their own oldest, not from that of the former', async () => {
    const { feed, asked, answers, put, replace } = setUp();
    put(rowsBefore(400, 200));
    const first = feed.loadOlder();
    answers[0]?.({ data: rowsBefore(200, 100), next_page: 'cursor' });
    await first;
    replace(rowsBefore(900, 200));
    void feed.loadOlder();
    expect(asked[1]).toMatchObject({ to: new Date(Date.parse(timeOf(700)) + 1).toISOString() });
    expect(asked[1]).not.toHaveProperty('page');
  });

  it('are all where they are fewer than were asked for', () => {
    const { feed, put, replace } = setUp();
    put(rowsBefore(400, 200));
    replace(rowsBefore(30, 30));
    expect(feed.hasOlder.value).toBe(false);
  });

  it.each(['answered', 'refused'])(
    'are not joined by what was asked for behind the former, which is %s late',
    async (late) => {
      const { feed, asked, answers, failures, put, replace, shown } = setUp();
      put(rowsBefore(400, 200));
      const loading = feed.loadOlder();
      replace(rowsBefore(900, 200));
      if (late === 'answered') answers[0]?.({ data: rowsBefore(200, 200), next_page: 'cursor' });
      else failures[0]?.(new Error('gone'));
      await expect.poll(() => asked.length).toBe(2);
      expect(shown()).toEqual(rowsBefore(900, 200).map(({ id }) => id));
      expect(asked[1]).toMatchObject({ to: new Date(Date.parse(timeOf(700)) + 1).toISOString() });
      answers[1]?.({ data: rowsBefore(700, 200), next_page: null });
      await loading;
      expect(shown()).toEqual(rowsBefore(900, 400).map(({ id }) => id));
      expect(feed.problem.value).toBe('');
    },
  );
});
