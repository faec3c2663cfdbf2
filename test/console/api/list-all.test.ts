import { expect, it } from 'vitest';
import { createApi } from '../../../src/console/api/call.ts';
import { listAll, MOST_ROWS } from '../../../src/console/api/list-all.ts';

/** A gateway whose list has so many numbers, of which it gives 100 at a time at most. */
function setUp(count: number) {
  const asked: string[] = [];
  const fetch = async (target: string): Promise<Response> => {
    const { pathname, searchParams } = new URL(target, 'http://gateway');
    asked.push(`${pathname}?${searchParams.toString()}`);
    const first = Number(searchParams.get('page') ?? 0);
    const limit = Math.min(100, Number(searchParams.get('limit') ?? 20));
    const data = Array.from({ length: Math.min(limit, count - first) }, (_, at) => first + at);
    const next = first + data.length;
    return Response.json({ data, next_page: next < count ? String(next) : null });
  };
  const api = createApi({
    fetch: fetch as typeof globalThis.fetch,
    session: () => null,
    onSignedOut: () => undefined,
  });
  return { api, asked };
}

it.each([0, 1, 100, 101, 250])('reads all of %i rows, each once', async (count) => {
  const { api, asked } = setUp(count);
  const { rows, isCut } = await listAll<number>(api, '/admin/v1/keys', {});
  expect(rows).toEqual(Array.from({ length: count }, (_, index) => index));
  expect(isCut).toBe(false);
  expect(asked).toHaveLength(Math.max(1, Math.ceil(count / 100)));
});

it('asks for every page with the query of the first', async () => {
  const { api, asked } = setUp(101);
  await listAll(api, '/v1/deployment_runs', { query: { 'created_at[gte]': 'now' } });
  const path = '/console/api/v1/deployment_runs?limit=100&created_at%5Bgte%5D=now';
  expect(asked).toEqual([path, `${path}&page=100`]);
});

it.each([
  [MOST_ROWS, false],
  [MOST_ROWS + 1, true],
  [MOST_ROWS + 1_000, true],
])(
  'stops where a page shows no more, and of %i rows says whether it did: %s',
  async (count, is) => {
    const { api, asked } = setUp(count);
    const { rows, isCut } = await listAll(api, '/admin/v1/keys', {});
    expect([rows.length, isCut]).toEqual([MOST_ROWS, is]);
    expect(asked.length).toBeLessThanOrEqual(MOST_ROWS / 100 + 1);
  },
);

it('is refused as a whole where a page is', async () => {
  const api = createApi({
    fetch: async (target) =>
      String(target).includes('page=')
        ? Response.json({ error: 'slow down' }, { status: 429 })
        : Response.json({ data: [1], next_page: 'next' }),
    session: () => null,
    onSignedOut: () => undefined,
  });
  await expect(listAll(api, '/admin/v1/keys', {})).rejects.toMatchObject({ status: 429 });
});
