import { Redis } from 'ioredis';
import type { Result } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FORMAT, migrate, readMeta } from '../../../src/store/backends/redis/migrations.ts';
import { SCRIPTS } from '../../../src/store/backends/redis/scripts.ts';
import { shareDatabase } from '../../support/servers/share-database.ts';
import { findProgram } from '../support/database-server.ts';

const program = findProgram('redis-server');
const KEYS = ['{s}rows', '{s}keys', '{s}expiry', '{s}version'];
const [ROWS, ORDER, EXPIRY, VERSION] = KEYS as [string, string, string, string];

describe.skipIf(program === undefined)('inside Redis', () => {
  let redis: Redis;
  let listener: Redis;
  let channel: string;
  let told: string[];

  beforeAll(async () => {
    const { url, name } = await shareDatabase('redis');
    channel = `${name}_told`;
    [redis, listener] = [new Redis(url), new Redis(url)];
    listener.on('message', (_, message) => void told.push(message));
    await listener.subscribe(channel);
  });
  afterAll(() => {
    redis.disconnect();
    listener.disconnect();
  });
  beforeEach(async () => {
    told = [];
    await redis.flushdb();
  });

  const run = (name: keyof typeof SCRIPTS, ...values: (string | number)[]) =>
    redis.eval(SCRIPTS[name].lua, 4, ...KEYS, ...values) as Promise<Result<unknown, never>>;
  const commit = (now: number, ...operations: readonly (readonly string[])[]) =>
    run('storeCommit', now, channel, 'me:', ...operations.flat());
  const put = (key: string, { condition = '', expiry = '', value = 'jx' } = {}) => [
    'put',
    key,
    condition,
    expiry,
    value,
  ];
  const drop = (key: string) => ['delete', key, '', '', ''];

  /** Notices so far: a message behind them came. */
  async function heard(): Promise<string[]> {
    await redis.publish(channel, 'end');
    await expect.poll(() => told.at(-1)).toBe('end');
    return told.splice(0).slice(0, -1);
  }

  it('a commit writes rows, their order and their expiry, under one version', async () => {
    expect(await commit(0, put('b', { expiry: '7.5' }), put('a'))).toEqual([1, '1']);
    expect(await redis.hgetall(ROWS)).toEqual({ b: '1|7.5|jx', a: '1||jx' });
    expect(await redis.zrange(ORDER, 0, -1)).toEqual(['a', 'b']);
    expect(await redis.zrange(EXPIRY, 0, -1, 'WITHSCORES')).toEqual(['b', '7.5']);
    expect(await heard()).toEqual(['me:1:b1:a']);
    // A row that is written without one expires no more.
    await commit(0, put('b'));
    expect(await redis.zrange(EXPIRY, 0, -1)).toEqual([]);
    expect(await run('storeGet', 0, 'b')).toEqual(['2', 'jx']);
  });

  it('a commit whose condition does not hold writes nothing and names the operation', async () => {
    await commit(0, put('a', { expiry: '5' }));
    await heard();
    expect(await commit(4, put('b'), put('a', { condition: 'absent' }))).toEqual([0, 1]);
    expect(await commit(4, put('a', { condition: '=2' }))).toEqual([0, 0]);
    expect(await redis.get(VERSION)).toBe('1');
    expect(await run('storeGet', 4, 'b')).toBeNull();
    expect(await heard()).toEqual([]);
    expect(await commit(4, put('a', { condition: '=1' }))).toEqual([1, '2']);
    // What has expired is absent from that very moment.
    await commit(4, put('c', { expiry: '5' }));
    expect(await commit(5, put('c', { condition: 'absent' }))).toEqual([1, '4']);
  });

  it('a commit tells of what it deleted, and of nothing that was not there', async () => {
    await commit(0, put('a', { expiry: '9' }));
    await heard();
    expect(await commit(0, drop('a'), drop('never'))).toEqual([1, '2']);
    expect(await heard()).toEqual(['me:1:a']);
    for (const place of [ROWS, ORDER, EXPIRY]) expect(await redis.exists(place)).toBe(0);
    await commit(0, drop('a'));
    expect(await heard()).toEqual([]);
  });

  it.each([
    [64, (keys: string[]) => `me:${keys.map((key) => `${key.length}:${key}`).join('')}`],
    [65, () => 'me:*'],
  ])('a commit of %i rows tells of each, or of all', async (count, notice) => {
    const keys = Array.from({ length: count }, (_, index) => `k${index}`);
    await commit(0, ...keys.map((key) => put(key)));
    expect(await heard()).toEqual([notice(keys)]);
  });

  it('a list passes over what has expired until it is long or large enough', async () => {
    await commit(0, ...['a', 'b', 'c', 'd'].map((key) => put(key, { value: `j${key}` })));
    await commit(0, put('b', { expiry: '3' }));
    const list = (now: number, limit: number, { reverse = 0, most = 1e6 } = {}) =>
      run('storeList', now, ...(reverse ? ['+', '-'] : ['-', '+']), limit, reverse, most);
    expect(await list(3, 2)).toEqual(['a', '1', 'ja', 'c', '1', 'jc']);
    expect(await list(2, 2)).toEqual(['a', '1', 'ja', 'b', '2', 'jx']);
    expect(await list(3, 9, { reverse: 1 })).toEqual([
      'd',
      '1',
      'jd',
      'c',
      '1',
      'jc',
      'a',
      '1',
      'ja',
    ]);
    expect(await list(3, 9, { most: 3 })).toEqual(['a', '1', 'ja', 'c', '1', 'jc']);
    expect(await run('storeList', 3, '[b', '(d', 9, 0, 1e6)).toEqual(['c', '1', 'jc']);
  });

  it('a counter grows by what it is given, keeps its expiry, and refuses what is no number', async () => {
    const add = (now: number, by: number | string, expiry = '') =>
      run('storeIncrement', now, channel, 'me:', 'n', by, expiry);
    expect(await add(0, 1.5, '10')).toBe('1.5');
    expect(await add(1, 2, '99')).toBe('3.5');
    expect(await redis.hget(ROWS, 'n')).toBe('2|10|j3.5');
    expect(await heard()).toEqual(['me:1:n', 'me:1:n']);
    // Behind its expiry it begins again.
    expect(await add(10, 1)).toBe('1');
    expect(await redis.zrange(EXPIRY, 0, -1)).toEqual([]);
    expect(await add(10, '1e308')).toBe('1e+308');
    for (const by of ['1e308', 'nan', '-inf']) expect(await add(10, by)).toBeNull();
    await commit(10, put('n', { value: 'j"text"' }));
    expect(await add(10, 1)).toBeNull();
    expect(await run('storeGet', 10, 'n')).toEqual(['5', 'j"text"']);
  });

  it('a sweep takes what has expired, oldest first and no more than it may', async () => {
    await commit(0, ...[3, 1, 2].map((at) => put(`e${at}`, { expiry: String(at) })), put('kept'));
    expect(await run('storeSweep', 2, 1)).toBe(1);
    expect(await redis.zrange(ORDER, 0, -1)).toEqual(['e2', 'e3', 'kept']);
    expect(await run('storeSweep', 2, 9)).toBe(1);
    expect(await run('storeSweep', 2, 9)).toBe(0);
    expect((await redis.hkeys(ROWS)).toSorted()).toEqual(['e3', 'kept']);
    expect(await run('storeExpiring', 3, 0, 9)).toEqual(['e3', '3']);
    expect(await run('storeExpiring', 3.5, 0, 9)).toEqual([]);
  });

  it('an expiry is corrected where it is still the one that was seen, and the version stays', async () => {
    await commit(0, put('a', { expiry: '5' }), put('b', { expiry: '5' }));
    await run('storeCorrect', 'a', '5', '8.5', 'b', '6', '8.5', 'gone', '5', '8.5');
    expect(await redis.hgetall(ROWS)).toEqual({ a: '1|8.5|jx', b: '1|5|jx' });
    expect(await redis.zrange(EXPIRY, 0, -1, 'WITHSCORES')).toEqual(['b', '5', 'a', '8.5']);
  });

  it('a store is brought to the present form once, and keeps its identity', async () => {
    const names = { format: '{s}format', meta: '{s}meta' } as Parameters<typeof migrate>[1];
    await Promise.all([migrate(redis, names), migrate(redis, names)]);
    expect(await redis.get(names.format)).toBe(String(FORMAT));
    const { identity, incoming } = await readMeta(redis, names);
    expect([identity?.length, incoming]).toEqual([36, undefined]);
    await redis.set(names.format, 1);
    await redis.hset(names.meta, 'incoming', '{"from":"x"}');
    await migrate(redis, names);
    expect(await redis.get(names.format)).toBe(String(FORMAT));
    expect(await readMeta(redis, names)).toEqual({ identity, incoming: { from: 'x' } });
    await redis.set(names.format, FORMAT + 1);
    await expect(migrate(redis, names)).rejects.toMatchObject({ code: 'newer_format' });
  });
});
