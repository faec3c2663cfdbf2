import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { ListPlan } from '../list-options.ts';
import type { PreparedOp } from '../prepare-commit.ts';
import { readChangedKeys } from '../redis/changed-keys.ts';
import { SCRIPTS } from '../redis/scripts.ts';
import { createRemoteStore, type RemoteRows } from '../remote-store.ts';
import { type Store, StoreError, type StoreErrorCode } from '../store.ts';
import { createWatchers, type Watchers } from '../watchers.ts';

const FORMAT = 1;
const CONNECT_MS = 10_000;
const COMMAND_MS = 10_000;
const MAX_RECONNECT_MS = 2_000;

const optionsSchema = z.strictObject({
  /** `redis://` or `rediss://`, with user, password and database as Redis writes them. */
  url: z.string().regex(/^rediss?:\/\//, 'expected redis:// or rediss://'),
  /** In front of every key, so that several gateways share a server. */
  prefix: z
    .string()
    .max(64)
    .regex(/^[^{}]*$/)
    .default('gateway:'),
  /** True: also on a server that may forget what it acknowledged. */
  allow_volatile: z.boolean().default(false),
});

/** The scripts as methods of the connection; buffers in and out. */
type Call = (...args: (string | Buffer | number)[]) => Promise<unknown>;
type Scripted = Record<`${keyof typeof SCRIPTS}Buffer`, Call>;

/**
 * A store at cluster scope on Redis 7.0 or newer. A commit is one script, so all or nothing; it is as
 * durable as the server makes its writes. Rejects with `StoreError` `unavailable`, `newer_format`, or
 * `read_only` for a server that would lose acknowledged writes.
 */
export async function openRedisStore(given: Record<string, unknown>, clock: Clock): Promise<Store> {
  const parsed = optionsSchema.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const message = `store options: ${issue?.path.join('.')}: ${issue?.message}`;
    throw new StoreError('unavailable', message);
  }
  const { url, prefix, allow_volatile: allowVolatile } = parsed.data;
  const names = namesOf(prefix);
  const connection = new Redis(url, connectionOptions());
  const listener = new Redis(url, { ...connectionOptions(), commandTimeout: undefined });
  // Commands tell of it; without a listener it would be thrown.
  for (const one of [connection, listener]) one.on('error', () => undefined);
  const watchers = createWatchers();
  try {
    await Promise.all([connection.connect(), listener.connect()]);
    await checkServer(connection, names.format, allowVolatile);
    await listenTo(listener, names, watchers);
  } catch (error) {
    connection.disconnect();
    listener.disconnect();
    throw toStoreError(error);
  }
  const rows = createRows(connection, listener, names);
  return createRemoteStore({ driver: 'redis', rows, clock, watchers });
}

interface Names {
  /** Rows, keys, expiry, version, in the order that scripts take them. */
  readonly keys: readonly [string, string, string, string];
  readonly format: string;
  readonly ping: string;
  readonly channel: string;
  /** Tells the messages of this process, whose watchers know already. */
  readonly sender: string;
}

function namesOf(prefix: string): Names {
  const named = (what: string) => `${prefix}{store}:${what}`;
  return {
    keys: [named('rows'), named('keys'), named('expiry'), named('version')],
    format: named('format'),
    ping: named('ping'),
    channel: named('changes'),
    sender: randomBytes(9).toString('base64url'),
  };
}

function connectionOptions(): RedisOptions {
  return {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    commandTimeout: COMMAND_MS,
    // A commit whose answer was lost may have happened: only its sender can decide to repeat it.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: (times) => Math.min(50 * 2 ** times, MAX_RECONNECT_MS),
    scripts: SCRIPTS,
  };
}

async function checkServer(redis: Redis, format: string, allowVolatile: boolean): Promise<void> {
  const stored = (await redis.set(format, FORMAT, 'NX', 'GET')) ?? String(FORMAT);
  if (Number(stored) > FORMAT) {
    const message = `the store has format ${stored}; this version reads up to ${FORMAT}`;
    throw new StoreError('newer_format', message);
  }
  if (allowVolatile) return;
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

async function listenTo(
  listener: Redis,
  { channel, sender }: Names,
  watchers: Watchers,
): Promise<void> {
  listener.on('messageBuffer', (_channel: Buffer, message: Buffer) => {
    if (message.toString('latin1', 0, sender.length) === sender) return;
    const keys = readChangedKeys(message.subarray(sender.length));
    if (!keys) watchers.changedAnything();
    else for (const key of keys) watchers.changed(key);
  });
  await listener.subscribe(channel);
  // What happened while it was away is not told later.
  listener.on('ready', () => watchers.changedAnything());
}

function createRows(
  connection: Redis,
  listener: Redis,
  { keys, ping, channel, sender }: Names,
): RemoteRows {
  const scripts = connection as unknown as Scripted;
  const call = async (name: keyof typeof SCRIPTS, args: (string | Buffer | number)[]) => {
    try {
      return await scripts[`${name}Buffer`](...keys, ...args);
    } catch (error) {
      throw toStoreError(error);
    }
  };
  return {
    async get(bytes, now) {
      const found = (await call('storeGet', [now, bytes])) as [Buffer, Buffer] | null;
      return found ? { version: found[0].toString(), envelope: found[1] } : undefined;
    },
    async list(plan, now) {
      const flat = (await call('storeList', [now, ...boundsOf(plan)])) as Buffer[];
      return Array.from({ length: flat.length / 3 }, (_, index) => ({
        key: flat[3 * index]!,
        version: flat[3 * index + 1]!.toString(),
        envelope: flat[3 * index + 2]!,
      }));
    },
    async commit(ops, now) {
      const args = ops.flatMap(toArguments);
      const [done, value] = (await call('storeCommit', [now, channel, sender, ...args])) as [
        number,
        Buffer | number,
      ];
      return done === 1 ? { version: value.toString() } : { failed: Number(value) };
    },
    async increment({ bytes, by, expiresAt }, now) {
      const args = [now, channel, sender, bytes, by, expiryText(expiresAt)];
      const sum = (await call('storeIncrement', args)) as Buffer | null;
      return sum === null ? undefined : Number(sum.toString());
    },
    sweep: async (now, limit) => Number(await call('storeSweep', [now, limit])),
    async ping(now) {
      await connection.set(ping, now).catch((error: unknown) => {
        throw toStoreError(error);
      });
    },
    async close() {
      listener.disconnect();
      // What was sent is answered first.
      await connection.quit().catch(() => connection.disconnect());
    },
  };
}

function boundsOf({ lower, upper, limit, reverse }: ListPlan): (Buffer | number)[] {
  const open = (bytes: Buffer) => Buffer.concat([Buffer.from('('), bytes]);
  const [start, end] = reverse ? [upper, lower] : [lower, upper];
  return [open(start), open(end), limit, reverse ? 1 : 0];
}

function toArguments({ type, bytes, ifVersion, ifAbsent, expiresAt, envelope }: PreparedOp) {
  const version = ifVersion === undefined ? '' : `=${ifVersion}`;
  const condition = ifAbsent ? 'absent' : version;
  return [type, bytes, condition, expiryText(expiresAt), envelope];
}

function expiryText(expiresAt: number): string {
  return expiresAt === Infinity ? '' : String(expiresAt);
}

/** What the first words of Redis' refusals mean here. */
const CODES: Readonly<Record<string, StoreErrorCode>> = {
  OOM: 'full',
  MISCONF: 'full',
  READONLY: 'read_only',
};

function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const [word = ''] = reason.split(' ', 1);
  const code = CODES[word] ?? 'unavailable';
  return new StoreError(code, `Redis: ${reason}`, { cause: error });
}
