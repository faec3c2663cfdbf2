import { describe, expect, it } from 'vitest';
import { collect } from '../../src/client/http/pages.ts';
import type { RequestRecord } from '../../src/client/requests.ts';
import { connect, failed, streamOf, testCalls, testLists, without } from './support.ts';

const START = Date.UTC(2026, 10, 21, 10);
const recordAt = (seconds: number, result = 'ok'): RequestRecord => ({
  id: `req_${seconds}`,
  created_at: new Date(START + seconds * 1_000).toISOString(),
  model: 'm',
  surface: 'chat',
  status: 200,
  result,
  cost: null,
  total_ms: 1,
});
const RECORD = recordAt(0);

describe('requests', () => {
  testCalls([
    {
      name: 'get',
      call: ({ requests }, signal) => requests.get('req/1', signal),
      method: 'GET',
      target: '/admin/v1/requests/req%2F1',
      answer: RECORD,
      refused: without(RECORD, 'id', 'created_at'),
    },
  ]);

  testLists([
    {
      name: 'list',
      call: ({ requests }, signal) => requests.list({ key: 'k', limit: 1 }, signal),
      targets: ['/admin/v1/requests?key=k&limit=1', '/admin/v1/requests?key=k&limit=1&page=p+2'],
      item: RECORD,
      refused: without(RECORD, 'id', 'created_at'),
    },
  ]);
});

describe('requests that are followed', () => {
  const block = (...lines: string[]) => `${lines.join('\n')}\n\n`;

  it('come as rows, resets and places', async () => {
    const stream = streamOf([
      block('id: 1', 'event: requests', `data: ${JSON.stringify([RECORD])}`),
      block('id: 2'),
      block('event: reset', 'data: {}'),
      block('event: later kind', 'data: {}'),
    ]);
    const { client, sent } = connect([new Response(stream)]);
    expect(await collect(client.requests.follow({ model: 'm' }))).toEqual([
      { type: 'rows', rows: [RECORD], after: '1' },
      { type: 'place', rows: [], after: '2' },
      { type: 'reset', rows: [], after: '2' },
    ]);
    expect(sent[0]).toMatchObject({ target: '/admin/v1/requests/events?model=m' });
    expect(sent[0]?.headers).not.toHaveProperty('last-event-id');
  });

  it.each(['{}', '[{}]', 'null'])('are refused where the rows are %s', async (rows) => {
    const stream = streamOf([block('event: requests', `data: ${rows}`)]);
    const { client } = connect([new Response(stream)]);
    const followed = collect(client.requests.follow());
    await expect(followed).rejects.toMatchObject({ code: 'invalid_response' });
  });

  it('end where the connection breaks', async () => {
    const { client } = connect([new Response(streamOf([block('id: 1')], true))]);
    const followed = collect(client.requests.follow());
    await expect(followed).rejects.toMatchObject({ code: 'connection_lost' });
  });
});

describe('requests that are watched', () => {
  it('come when they begin and once more when they end', async () => {
    const pages = [
      [recordAt(0)],
      [],
      [recordAt(0)],
      [recordAt(60, 'pending'), recordAt(0)],
      [recordAt(90), recordAt(60)],
    ];
    const { client, sent } = connect(pages.map((data) => ({ data })));
    const watched = client.requests.watch(
      { model: 'm' },
      { intervalMs: 2_000, onTrouble: () => undefined },
    );
    const told: string[] = [];
    while (told.length < 3) {
      const { value } = await watched.next();
      told.push(`${value.id} ${value.result}`);
    }
    expect(told).toEqual(['req_60 pending', 'req_60 ok', 'req_90 ok']);
    const asked = sent.map(({ target }) => new URLSearchParams(target.split('?')[1]));
    expect(asked.map((query) => [query.get('model'), query.get('limit')])).toEqual([
      ['m', '1'],
      ['m', '1000'],
      ['m', '1000'],
      ['m', '1000'],
      ['m', '1000'],
    ]);
    // Ten seconds before the newest; while one goes on, not behind its begin.
    expect(asked.map((query) => query.get('from'))).toEqual([
      null,
      null,
      new Date(START - 10_000).toISOString(),
      new Date(START - 10_000).toISOString(),
      new Date(START + 50_000).toISOString(),
    ]);
    expect(asked.map((query) => query.get('status'))).toEqual([null, 'pending', null, null, null]);
  });

  it('come when they end though they began long before, also between the first looks', async () => {
    const open = [recordAt(-900, 'pending'), recordAt(-3_600, 'pending')];
    const pages = [
      [recordAt(0)],
      open,
      [recordAt(0), recordAt(-900), recordAt(-2_000), recordAt(-3_600, 'pending')],
      [recordAt(0), recordAt(-900), recordAt(-2_000), recordAt(-3_600)],
    ];
    const { client, sent } = connect(pages.map((data) => ({ data })));
    const options = { intervalMs: 2_000, onTrouble: () => undefined };
    const watched = client.requests.watch({}, options);
    const told = [(await watched.next()).value, (await watched.next()).value];
    expect(told).toEqual([recordAt(-900), recordAt(-3_600)]);
    const from = new URLSearchParams(sent.at(-1)?.target.split('?')[1]).get('from');
    expect(from).toBe(new Date(START - 3_600_000).toISOString());
  });

  it('come from the time that is named and no earlier, whatever the later looks are', async () => {
    const pages = [[recordAt(5)], [recordAt(5), recordAt(3)]];
    const { client, sent } = connect(pages.map((data) => ({ data })));
    const from = new Date(START + 2_000).toISOString();
    const options = { from, intervalMs: 2_000, onTrouble: () => undefined };
    const watched = client.requests.watch({}, options);
    expect((await watched.next()).value).toEqual(recordAt(5));
    expect((await watched.next()).value).toEqual(recordAt(3));
    const asked = sent.map(({ target }) => new URLSearchParams(target.split('?')[1]).get('from'));
    expect(asked).toEqual([from, from]);
  });

  it('tell of a look that fails, and end with one that is refused', async () => {
    const answers = [
      { data: [] },
      { data: [] },
      { data: [] },
      ...Array(4).fill(failed(500)),
      failed(403),
    ];
    const { client } = connect(answers);
    const told: string[] = [];
    const onTrouble = ({ code }: Error & { code: string }): void => void told.push(code);
    const watched = client.requests.watch({}, { intervalMs: 1_000, onTrouble });
    await expect(watched.next()).rejects.toMatchObject({ status: 403 });
    expect(told).toEqual(['no_luck']);
  });
});
