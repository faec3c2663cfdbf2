import type { Redis } from 'ioredis';
import { StoreError } from '../../store.ts';
import type { RedisPlace } from './connection.ts';

/**
 * Returns warnings for the operator about the durability of acknowledged writes on this server. Rejects with
 * `read_only` for one that would lose it when it dies, or throws it out when its memory is full.
 */
export async function assertDurable(redis: Redis, place: RedisPlace): Promise<string[]> {
  if (place.allow_volatile) return [];
  const settings = await readSettings(redis);
  if (settings.get('appendonly') === 'no') {
    throw new StoreError(
      'read_only',
      'this Redis keeps nothing of what it acknowledged when it dies: set appendonly yes, or the option allow_volatile',
    );
  }
  const policy = settings.get('maxmemory-policy') ?? '';
  const isBounded = Number(settings.get('maxmemory') ?? 0) > 0;
  // Rows have no expiry of Redis' own, so that the volatile policies do not evict them.
  if (isBounded && policy.startsWith('allkeys-')) {
    throw new StoreError(
      'read_only',
      `this Redis throws data out when its memory is full (maxmemory-policy ${policy}): set noeviction, or the option allow_volatile`,
    );
  }
  const sync = settings.get('appendfsync');
  if (sync === undefined || sync === 'always') return [];
  const lost = sync === 'everysec' ? 'up to a second' : 'what the system has not written yet';
  return [
    `this Redis may lose ${lost} of what it acknowledged when its machine dies (appendfsync ${sync}); appendfsync always keeps it`,
  ];
}

/** Hosted servers hide their settings: no warning, then. Their documentation says which writes are kept. */
async function readSettings(redis: Redis): Promise<ReadonlyMap<string, string>> {
  const names = ['appendonly', 'appendfsync', 'maxmemory', 'maxmemory-policy'] as const;
  const flat = await redis.config('GET', ...names).catch(() => undefined);
  const words = Array.isArray(flat) ? flat.map(String) : [];
  const settings = new Map<string, string>();
  for (let at = 0; at + 1 < words.length; at += 2) settings.set(words[at]!, words[at + 1]!);
  return settings;
}
