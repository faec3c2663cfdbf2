import type { Redis } from 'ioredis';
import {
  STEP_BYTES,
  STEP_ROWS,
  type RawRow,
  type RawStore,
  type RawTarget,
} from '../../raw/raw-store.ts';
import { newerFormat, type StoreMeta } from '../../store-meta.ts';
import { AbsentStore } from '../../damage.ts';
import { assertDurable } from './assert-durable.ts';
import { connectTo, establish, namesOf, toRedisPlace, type Names } from './connection.ts';
import { FORMAT, migrate, readMeta } from './migrations.ts';
import { expiryText } from './expiry-text.ts';
import { toStoreError } from './to-store-error.ts';

/**
 * Scripts for whole rows, with the KEYS of the others: rows, keys, expiry, version. A row that has
 * expired is one as any other.
 */

/** ARGV: a bound in lexical order, rows at most, bytes of rows to stop after. Gives key, row, … */
const READ = `
local found, size = {}, 0
local keys = redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], '+', 'LIMIT', 0, ARGV[2])
for _, key in ipairs(keys) do
  local row = redis.call('HGET', KEYS[1], key)
  found[#found + 1] = key
  found[#found + 1] = row or ''
  size = size + #(row or '')
  if size >= tonumber(ARGV[3]) then break end
end
return found
`;

/** ARGV: key, expiry or nothing, row, … */
const WRITE = `
for i = 1, #ARGV, 3 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
  redis.call('ZADD', KEYS[2], 0, ARGV[i])
  if ARGV[i + 1] ~= '' then redis.call('ZADD', KEYS[3], ARGV[i + 1], ARGV[i]) end
end
`;

const RAW_SCRIPTS = { read: READ, write: WRITE } as const;

interface Opened {
  readonly redis: Redis;
  readonly names: Names;
  readonly format: number;
  readonly meta: StoreMeta;
}

/**
 * Opens an existing store for reading. Rejects with `unavailable`, `newer_format`, and with `read_only`
 * for a server that would lose acknowledged writes, where it is to serve.
 */
export async function openRawRedis(
  options: Record<string, unknown>,
  { isToServe = false } = {},
): Promise<RawStore> {
  return createRaw(
    await openPlace(options, async (redis, names) => {
      if (isToServe) await assertDurable(redis, toRedisPlace(options));
      if ((await redis.exists(names.format)) > 0) return;
      throw new AbsentStore('under this prefix');
    }),
  );
}

/** Opens or makes a store that is to be filled. */
export async function openRawRedisTarget(options: Record<string, unknown>): Promise<RawTarget> {
  const opened = await openPlace(options, async (redis, names) => {
    await assertDurable(redis, toRedisPlace(options));
    await migrate(redis, names);
  });
  const { redis, names } = opened;
  const [rows, keys, expiry, version] = names.keys;
  return {
    ...createRaw(opened),
    begin: (incoming) =>
      guarded(async () => {
        await redis.hset(names.meta, 'incoming', JSON.stringify(incoming));
        await redis.unlink(rows, keys, expiry);
      }),
    write: (batch) =>
      guarded(async () => {
        const args = batch.flatMap(toArguments);
        await redis.eval(RAW_SCRIPTS.write, names.keys.length, ...names.keys, ...args);
      }),
    flush: (lastVersion) => done(redis.set(version, lastVersion)),
    complete: () => done(redis.hdel(names.meta, 'incoming')),
  };
}

async function openPlace(
  options: Record<string, unknown>,
  prepare: (redis: Redis, names: Names) => Promise<void>,
): Promise<Opened> {
  const place = toRedisPlace(options);
  const names = namesOf(place);
  const redis = connectTo(place);
  try {
    await establish(redis);
    await prepare(redis, names);
    const format = Number(await redis.get(names.format));
    if (format > FORMAT) throw newerFormat(format, FORMAT);
    return { redis, names, format, meta: await readMeta(redis, names) };
  } catch (error) {
    redis.disconnect();
    throw toStoreError(error);
  }
}

function createRaw({ redis, names, format, meta }: Opened): RawStore {
  const [rows, keys, , version] = names.keys;
  return {
    driver: 'redis',
    format,
    meta,
    lastVersion: () => guarded(async () => Number((await redis.get(version)) ?? 0)),
    read: (after) =>
      guarded(async () => {
        const from = after ? Buffer.concat([Buffer.from('('), after]) : '-';
        const args = [from, STEP_ROWS, STEP_BYTES];
        const { length } = names.keys;
        const call = [RAW_SCRIPTS.read, length, ...names.keys, ...args];
        const flat = await redis.callBuffer('EVAL', call);
        return toRows(flat as Buffer[]);
      }),
    users: () =>
      guarded(async () => {
        const [, count] = await redis.pubsub('NUMSUB', names.channel);
        const users = Number(count ?? 0);
        return users > 0 ? [`${users} ${users === 1 ? 'process' : 'processes'} of a gateway`] : [];
      }),
    faults: () =>
      guarded(async () => {
        const [held, indexed] = [await redis.hlen(rows), await redis.zcard(keys)];
        return held === indexed
          ? []
          : [`there are ${held} rows, but the index of keys has ${indexed}`];
      }),
    async close() {
      await redis.quit().catch(() => redis.disconnect());
    },
  };
}

const ROW = /^(\d+)\|([\d.]*)\|/;
/** Two numbers of at most 20 digits and a fraction. */
const HEAD_BYTES = 64;

function toRows(flat: readonly Buffer[]): RawRow[] {
  return Array.from({ length: flat.length / 2 }, (_, index) => {
    const [key, row] = [flat[2 * index]!, flat[2 * index + 1]!];
    const head = ROW.exec(row.toString('latin1', 0, HEAD_BYTES));
    // The codec reports the fault of a row that has none.
    if (!head) return { key, envelope: row, version: 0, expiresAt: Infinity };
    const [all, version, expiry] = head;
    return {
      key,
      envelope: row.subarray(all.length),
      version: Number(version),
      expiresAt: expiry === '' ? Infinity : Number(expiry),
    };
  });
}

function toArguments({ key, envelope, version, expiresAt }: RawRow): (string | Buffer)[] {
  const expiry = expiryText(expiresAt);
  return [key, expiry, Buffer.concat([Buffer.from(`${version}|${expiry}|`), envelope])];
}

const done = (work: Promise<unknown>): Promise<void> =>
  guarded(async () => {
    await work;
  });

async function guarded<R>(action: () => Promise<R>): Promise<R> {
  try {
    return await action();
  } catch (error) {
    throw toStoreError(error);
  }
}
