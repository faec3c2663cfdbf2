import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { assertDurable } from '../../../src/store/backends/redis/assert-durable.ts';
import { namesOf, toRedisPlace } from '../../../src/store/backends/redis/connection.ts';

const URL = 'redis://127.0.0.1/';
const SOUND = { appendonly: 'yes', appendfsync: 'always', maxmemory: '0' };

/** A server that tells these settings. */
function serverWith(settings: Record<string, string> | Error): { redis: Redis; asked: string[] } {
  const asked: string[] = [];
  const redis = {
    async config(_get: string, ...names: string[]) {
      asked.push(...names);
      if (settings instanceof Error) throw settings;
      return Object.entries(settings).flat();
    },
  } as unknown as Redis;
  return { redis, asked };
}
const check = (settings: Record<string, string> | Error, options = {}): Promise<string[]> =>
  assertDurable(serverWith(settings).redis, toRedisPlace({ url: URL, ...options }));

describe('a Redis server', () => {
  it('that keeps everything gets no word', async () => {
    const { redis, asked } = serverWith(SOUND);
    expect(await assertDurable(redis, toRedisPlace({ url: URL }))).toEqual([]);
    expect(asked).toEqual(['appendonly', 'appendfsync', 'maxmemory', 'maxmemory-policy']);
  });

  it.each([
    ['everysec', 'up to a second'],
    ['no', 'what the system has not written yet'],
  ])('that writes later is warned of: appendfsync %s', async (appendfsync, lost) => {
    expect(await check({ ...SOUND, appendfsync })).toEqual([
      `this Redis may lose ${lost} of what it acknowledged when its machine dies (appendfsync ${appendfsync}); appendfsync always keeps it`,
    ]);
  });

  it('that keeps nothing is refused', async () => {
    await expect(check({ ...SOUND, appendonly: 'no' })).rejects.toMatchObject({
      code: 'read_only',
      message: expect.stringContaining('set appendonly yes'),
    });
  });

  it.each([
    ['100', 'allkeys-lru', true],
    ['1', 'allkeys-random', true],
    ['0', 'allkeys-lru', false],
    ['100', 'noeviction', false],
    ['100', 'volatile-lru', false],
  ])('that holds %s bytes with %s throws data out: %s', async (maxmemory, policy, isRefused) => {
    const checked = check({ ...SOUND, maxmemory, 'maxmemory-policy': policy });
    if (isRefused)
      await expect(checked).rejects.toMatchObject({
        code: 'read_only',
        message: expect.stringContaining(`(maxmemory-policy ${policy})`),
      });
    else expect(await checked).toEqual([]);
  });

  it('that hides its settings is taken at its word', async () => {
    expect(await check({})).toEqual([]);
    expect(await check(new Error('NOPERM'))).toEqual([]);
  });

  it('is not asked where the operator lets it forget', async () => {
    const { redis, asked } = serverWith({ appendonly: 'no' });
    const place = toRedisPlace({ url: URL, allow_volatile: true });
    expect(await assertDurable(redis, place)).toEqual([]);
    expect(asked).toEqual([]);
  });
});

describe('the place of a Redis store', () => {
  it('has a prefix and durable data unless it is told', () => {
    expect(toRedisPlace({ url: URL })).toEqual({
      url: URL,
      prefix: 'gateway:',
      allow_volatile: false,
    });
    expect(toRedisPlace({ url: 'rediss://h', prefix: '' }).prefix).toBe('');
    expect(toRedisPlace({ url: URL, prefix: 'x'.repeat(64) }).prefix).toHaveLength(64);
  });

  it.each([
    [{}, /^store options: url: /],
    [{ url: 'http://h' }, /^store options: url: expected redis:\/\/ or rediss:\/\//],
    [{ url: ` ${URL}` }, /^store options: url: /],
    [{ url: URL, prefix: 'x'.repeat(65) }, /^store options: prefix: /],
    [{ url: URL, prefix: 'a{b' }, /^store options: prefix: /],
    [{ url: URL, prefix: 'a}b' }, /^store options: prefix: /],
    [{ url: URL, allow_volatile: 'yes' }, /^store options: allow_volatile: /],
    [{ url: URL, other: 1 }, /^store options: /],
  ])('is refused: %j', (options, message) => {
    expect(() => toRedisPlace(options)).toThrow(
      expect.objectContaining({
        code: 'unavailable',
        message: expect.stringMatching(message),
      }),
    );
  });

  it('names everything of one store alike, so that it lies on one node, and its process by chance', () => {
    const place = toRedisPlace({ url: URL, prefix: 'mine:' });
    const [one, other] = [namesOf(place), namesOf(place)];
    const named = [...one.keys, one.format, one.meta, one.ping, one.channel];
    expect(named.every((name) => name.startsWith('mine:{store}:'))).toBe(true);
    expect(new Set(named).size).toBe(8);
    expect(one.sender).toMatch(/^[\w-]{12}$/);
    expect(one.sender).not.toBe(other.sender);
  });
});
