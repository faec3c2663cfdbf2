import { describe, expect, it } from 'vitest';
import { settingsOf, toPostgresPlace } from '../../../src/store/backends/postgres/connection.ts';
import { createExpiries } from '../../../src/store/backends/postgres/expiries.ts';

const URL = 'postgres://u:p@127.0.0.1:5432/d';

describe('the place of a PostgreSQL store', () => {
  it('has a schema and ten connections unless it is told', () => {
    expect(toPostgresPlace({ url: URL })).toEqual({ url: URL, schema: 'gateway', connections: 10 });
    const url = 'postgresql://h/d';
    const all = { url, schema: '_x9', connections: 2 };
    expect(toPostgresPlace(all)).toEqual(all);
    expect(toPostgresPlace({ url, connections: 200 }).connections).toBe(200);
    expect(toPostgresPlace({ url, schema: 'a'.repeat(63) }).schema).toHaveLength(63);
  });

  it.each([
    [{}, 'url'],
    [{ url: 'postgress://h' }, 'url'],
    [{ url: `x${URL}` }, 'url'],
    [{ url: URL, schema: '9x' }, 'schema'],
    [{ url: URL, schema: 'A' }, 'schema'],
    [{ url: URL, schema: 'a;drop' }, 'schema'],
    [{ url: URL, schema: 'a'.repeat(64) }, 'schema'],
    [{ url: URL, connections: 1 }, 'connections'],
    [{ url: URL, connections: 201 }, 'connections'],
    [{ url: URL, connections: 2.5 }, 'connections'],
  ])('is refused: %j for its %s', (options, name) => {
    expect(() => toPostgresPlace(options)).toThrow(
      expect.objectContaining({
        code: 'unavailable',
        message: expect.stringMatching(new RegExp(`^store options: ${name}: `)),
      }),
    );
  });

  it('is where functions find their tables', () => {
    expect(settingsOf(toPostgresPlace({ url: URL, schema: 'mine' }))).toMatchObject({
      connectionString: URL,
      options:
        '-c search_path=mine -c client_min_messages=warning -c default_transaction_isolation=read\\ committed',
    });
  });

  it('has the options that its URL gives, behind which come its own', () => {
    const settings = (query: string) => settingsOf(toPostgresPlace({ url: `${URL}?${query}` }));
    const given = settings('sslmode=disable&options=-c%20work_mem%3D8MB&application_name=a%20b');
    expect(given).toMatchObject({
      connectionString: `${URL}?sslmode=disable&application_name=a+b`,
      options: expect.stringMatching(/^-c work_mem=8MB -c search_path=gateway /),
    });
    expect(settings('options=-c+work_mem%3D8MB')).toMatchObject({ connectionString: URL });
    expect(settings('sslmode=disable')).toMatchObject({
      connectionString: `${URL}?sslmode=disable`,
    });
  });
});

describe('the expiries of rows', () => {
  it('are read and changed by what is asked', async () => {
    const asked: [name: string, values: unknown[]][] = [];
    const expiries = createExpiries(async <R>(name: string, _text: string, values: unknown[]) => {
      asked.push([name, values]);
      return [{ key: Buffer.from('a'), expires_at: 7.5 }] as R[];
    });
    const [bytes, other] = [Buffer.from('a'), Buffer.from('b')];
    expect(await expiries.list({ from: 1, skip: 2, limit: 3 })).toEqual([
      { bytes, expiresAt: 7.5 },
    ]);
    await expiries.change([
      { bytes, before: 7.5, expiresAt: 4 },
      { bytes: other, before: 8.5, expiresAt: 5 },
    ]);
    expect(asked).toEqual([
      ['store_expiring', [1, 2, 3]],
      [
        'store_correct',
        [
          [bytes, other],
          [7.5, 8.5],
          [4, 5],
        ],
      ],
    ]);
  });
});
