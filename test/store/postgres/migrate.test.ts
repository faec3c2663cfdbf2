import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { migrate, readMeta } from '../../../src/store/backends/postgres/migrate.ts';
import { MIGRATIONS } from '../../../src/store/backends/postgres/schema.ts';

/** A database of this format; the query that holds `failing` fails. */
function databaseOf(format: number | undefined, failing?: string) {
  const asked: string[] = [];
  const values: unknown[] = [];
  let released = 0;
  const client = {
    async query(text: string, given: unknown[] = []) {
      asked.push(text);
      values.push(...given);
      if (failing !== undefined && text.includes(failing)) throw new Error(`${failing} failed`);
      const isFormat = text === 'select version from format' && format !== undefined;
      return { rows: isFormat ? [{ version: format }] : [] };
    },
    release: () => void released++,
  };
  const pool = { connect: async () => client } as unknown as pg.Pool;
  return { pool, asked, values, released: () => released };
}

const stepsOf = (asked: readonly string[]): number[] =>
  asked.map((text) => MIGRATIONS.indexOf(text)).filter((index) => index >= 0);

describe('the schema of a PostgreSQL store', () => {
  it.each([
    [undefined, [0, 1]],
    [0, [0, 1]],
    [1, [1]],
    [2, []],
  ])('of the format %s takes the steps %j, in one transaction', async (format, steps) => {
    const { pool, asked, values, released } = databaseOf(format);
    await migrate(pool, 'mine');
    expect(stepsOf(asked)).toEqual(steps);
    expect([asked[0], asked.at(-1), released()]).toEqual(['begin', 'commit', 1]);
    expect(values.at(-1)).toBe(MIGRATIONS.length);
    expect(asked).toContain('create schema if not exists mine');
    const lock = asked.indexOf('select pg_advisory_xact_lock($1)');
    expect(lock).toBeGreaterThan(0);
    expect(lock).toBeLessThan(asked.indexOf('create schema if not exists mine'));
  });

  it('of a later format is left as it is', async () => {
    const { pool, asked, released } = databaseOf(3);
    await expect(migrate(pool, 'mine')).rejects.toMatchObject({
      code: 'newer_format',
      message: 'the store has format 3, this release knows up to 2; use the release that wrote it',
    });
    expect([asked.at(-1), released()]).toEqual(['rollback', 1]);
    expect(asked).not.toContain('delete from format');
  });

  it.each(['begin', 'create table rows', 'commit', 'rollback'])(
    'is rolled back where %j fails',
    async (failing) => {
      const { pool, asked, released } = databaseOf(failing === 'rollback' ? 3 : 0, failing);
      await expect(migrate(pool, 'mine')).rejects.toThrow(
        failing === 'rollback' ? 'has format 3' : `${failing} failed`,
      );
      expect([asked.at(-1), released()]).toEqual(['rollback', 1]);
    },
  );
});

describe('what a PostgreSQL store knows of itself', () => {
  const read = (...rows: { name: string; value: string }[]) =>
    readMeta({ query: async () => ({ rows }) } as unknown as Pick<pg.Pool, 'query'>);

  it('is its identity, and the copy that is under way', async () => {
    const incoming = { from: 'other', startedAt: 7 };
    expect(await read()).toEqual({ identity: undefined, incoming: undefined });
    expect(
      await read(
        { name: 'incoming', value: JSON.stringify(incoming) },
        { name: 'identity', value: 'x' },
      ),
    ).toEqual({ identity: 'x', incoming });
  });
});
