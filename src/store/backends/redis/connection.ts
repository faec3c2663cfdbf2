import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import { z } from 'zod';
import { StoreError } from '../../store.ts';
import { SCRIPTS } from './scripts.ts';

const CONNECT_MS = 10_000;
const COMMAND_MS = 10_000;
const MAX_RECONNECT_MS = 1_000;
/** A silent server does not answer the end of a connection; it is cut after so long. */
const DISCONNECT_MS = 100;

const optionsSchema = z.strictObject({
  /** `redis://` or `rediss://`, with user, password and database as Redis writes them. */
  url: z.string().regex(/^rediss?:\/\//, 'expected redis:// or rediss://'),
  /** Text before every key, so that several gateways share a server. */
  prefix: z
    .string()
    .max(64)
    .regex(/^[^{}]*$/)
    .default('gateway:'),
  /** True: also on a server that may lose acknowledged writes. */
  allow_volatile: z.boolean().default(false),
});

export type RedisPlace = z.output<typeof optionsSchema>;

/** The options of the configuration, checked; throws `StoreError` `unavailable`. */
export function toRedisPlace(given: Record<string, unknown>): RedisPlace {
  const parsed = optionsSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const message = `store options: ${issue?.path.join('.')}: ${issue?.message}`;
  throw new StoreError('unavailable', message);
}

export interface Names {
  /** Rows, keys, expiry, version, in the order that scripts take them. */
  readonly keys: readonly [string, string, string, string];
  /** Counter that gives commits their versions. */
  readonly version: string;
  readonly format: string;
  /** A hash of what the store knows of itself. */
  readonly meta: string;
  readonly ping: string;
  readonly channel: string;
  /** Identifies the messages of this process, whose watchers have the change already. */
  readonly sender: string;
}

export function namesOf({ prefix }: RedisPlace): Names {
  const named = (what: string) => `${prefix}{store}:${what}`;
  const version = named('version');
  return {
    keys: [named('rows'), named('keys'), named('expiry'), version],
    version,
    format: named('format'),
    meta: named('meta'),
    ping: named('ping'),
    channel: named('changes'),
    sender: randomBytes(9).toString('base64url'),
  };
}

export function connectTo({ url }: RedisPlace, changes: RedisOptions = {}): Redis {
  const redis = new Redis(url, { ...connectionOptions(), ...changes });
  // Commands reject with it; without a listener it would be thrown.
  redis.on('error', () => undefined);
  return redis;
}

/** Rejects with the cause, not with the error of ioredis. */
export async function establish(redis: Redis): Promise<void> {
  let reason: unknown;
  const note = (error: unknown): void => void (reason ??= error);
  redis.once('error', note);
  try {
    await redis.connect();
  } catch (error) {
    throw reason ?? error;
  } finally {
    redis.off('error', note);
  }
}

function connectionOptions(): RedisOptions {
  return {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    commandTimeout: COMMAND_MS,
    disconnectTimeout: DISCONNECT_MS,
    // A commit whose answer was lost may have happened: only its sender can decide to repeat it.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: (times) => Math.min(50 * 2 ** times, MAX_RECONNECT_MS),
    scripts: SCRIPTS,
  };
}
