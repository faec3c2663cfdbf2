import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { newerFormat, type StoreMeta } from '../../store-meta.ts';
import type { Names } from './connection.ts';

/**
 * The step at index n, in Lua, brings a store of format n to n + 1; a new store takes all of them.
 * KEYS: format, meta. ARGV: the present format, a fresh identity.
 */
const STEPS: readonly string[] = ['', `redis.call('HSETNX', KEYS[2], 'identity', ARGV[2])`];

/** Format that this code writes; a store of a higher number stays unchanged. */
export const FORMAT = STEPS.length;

/** One script, so one step for every reader, and on the disk of Redis. */
const MIGRATE = `
local format = tonumber(redis.call('GET', KEYS[1]) or '0')
if format >= ${FORMAT} then return format end
${STEPS.map((step, from) => `if format <= ${from} then ${step} end`).join('\n')}
redis.call('SET', KEYS[1], ARGV[1])
return ${FORMAT}
`;

/**
 * Brings the store to the present form; one process does it, others find it done. Rejects with
 * `newer_format`, and changes nothing, when it is of a later form.
 */
export async function migrate(redis: Redis, { format, meta }: Names): Promise<void> {
  const found = Number(await redis.eval(MIGRATE, 2, format, meta, FORMAT, randomUUID()));
  if (found > FORMAT) throw newerFormat(found, FORMAT);
}

export async function readMeta(redis: Redis, { meta }: Names): Promise<StoreMeta> {
  const { identity, incoming } = await redis.hgetall(meta);
  return { identity, incoming: incoming === undefined ? undefined : JSON.parse(incoming) };
}
