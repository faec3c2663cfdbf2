import type { Redis } from 'ioredis';
import { StoreError } from '../store.ts';
import type { RedisPlace } from './connection.ts';

/** Rejects with `read_only` for a server that would lose acknowledged writes. */
export async function assertDurable(redis: Redis, place: RedisPlace): Promise<void> {
  if (place.allow_volatile) return;
  // Hosted servers hide their settings; they say themselves what they keep.
  const settings = await redis.config('GET', 'append*').catch(() => undefined);
  const [, appendOnly] = pairsOf(settings).find(([name]) => name === 'appendonly') ?? [];
  if (appendOnly !== 'no') return;
  const message =
    'this Redis keeps nothing of what it acknowledged when it dies: set appendonly yes, or the option allow_volatile';
  throw new StoreError('read_only', message);
}

function pairsOf(flat: unknown): [string, string][] {
  const words = Array.isArray(flat) ? flat.map(String) : [];
  return words.flatMap((word, index): [string, string][] =>
    index % 2 === 0 ? [[word, words[index + 1] ?? '']] : [],
  );
}
