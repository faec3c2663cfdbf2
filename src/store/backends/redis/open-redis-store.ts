import type { Redis } from 'ioredis';
import type { Clock } from '../../../core/time/clock.ts';
import type { ListPlan } from '../../list-options.ts';
import type { PreparedOp } from '../../prepare-commit.ts';
import { assertDurable } from './assert-durable.ts';
import { connectTo, establish, namesOf, toRedisPlace, type Names } from './connection.ts';
import { createExpiries } from './expiries.ts';
import { expiryText } from './expiry-text.ts';
import { connectToMaster } from './follow-master.ts';
import { migrate, readMeta } from './migrations.ts';
import { askNowAndThen, noticeSilence } from './notice-silence.ts';
import type { SCRIPTS } from './scripts.ts';
import { toStoreError } from './to-store-error.ts';
import { createRemoteStore, type RemoteRows } from '../../remote-store.ts';
import { assertWhole } from '../../store-meta.ts';
import type { Store } from '../../store.ts';
import { createWatchers, type Watchers } from '../../watchers.ts';

/** The scripts as methods of the connection; buffers in and out. */
type Call = (...args: (string | Buffer | number)[]) => Promise<unknown>;
type Scripted = Record<`${keyof typeof SCRIPTS}Buffer`, Call>;

/**
 * A store at cluster scope on Redis 7.0 or newer. A commit is one script, so all or nothing; it is as
 * durable as the server makes its writes. Rejects with `StoreError` `unavailable`, `newer_format`,
 * `read_only` for a server that would lose acknowledged writes, or `locked` when another store is half
 * copied into it.
 */
export async function openRedisStore(given: Record<string, unknown>, clock: Clock): Promise<Store> {
  const place = toRedisPlace(given);
  const names = namesOf(place);
  // Its own way to subscribe again ends the process when the connection is lost in the middle of it.
  const listener = connectTo(place, { commandTimeout: undefined, autoResubscribe: false });
  const connection = connectToMaster(place, listener);
  const watchers = createWatchers();
  let warnings: string[];
  try {
    await Promise.all([establish(connection), establish(listener)]);
    warnings = await assertDurable(connection, place);
    await migrate(connection, names);
    assertWhole(await readMeta(connection, names));
    await listenTo(listener, names, watchers);
  } catch (error) {
    connection.disconnect();
    listener.disconnect();
    throw toStoreError(error);
  }
  const rows = createRows(connection, names);
  const stopAsking = askNowAndThen(listener, clock);
  const close = async (): Promise<void> => {
    stopAsking();
    listener.disconnect();
    // Commands that were sent are answered first.
    await connection.quit().catch(() => connection.disconnect());
  };
  return createRemoteStore({
    driver: 'redis',
    rows: { ...rows, close },
    clock,
    watchers,
    warnings,
  });
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
  // Messages of the time while it was away do not come later. When it is lost again, it comes here
  // again.
  listener.on('ready', () => {
    listener.subscribe(channel).then(
      () => watchers.changedAnything(),
      () => undefined,
    );
  });
}

function createRows(
  connection: Redis,
  { keys, ping, channel, sender }: Names,
): Omit<RemoteRows, 'close'> {
  const scripts = connection as unknown as Scripted;
  const call = async (name: keyof typeof SCRIPTS, args: (string | Buffer | number)[]) => {
    try {
      return await scripts[`${name}Buffer`](...keys, ...args);
    } catch (error) {
      noticeSilence(connection, error);
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
    expiries: createExpiries(call),
    sweep: async (now, limit) => Number(await call('storeSweep', [now, limit])),
    async ping(now) {
      await connection.set(ping, now).catch((error: unknown) => {
        noticeSilence(connection, error);
        throw toStoreError(error);
      });
    },
  };
}

function boundsOf({ lower, upper, limit, maxBytes, reverse }: ListPlan): (Buffer | number)[] {
  const open = (bytes: Buffer) => Buffer.concat([Buffer.from('('), bytes]);
  const [start, end] = reverse ? [upper, lower] : [lower, upper];
  const most = Math.min(maxBytes, Number.MAX_SAFE_INTEGER);
  return [open(start), open(end), limit, reverse ? 1 : 0, most];
}

function toArguments({ type, bytes, ifVersion, ifAbsent, expiresAt, envelope }: PreparedOp) {
  const version = ifVersion === undefined ? '' : `=${ifVersion}`;
  const condition = ifAbsent ? 'absent' : version;
  return [type, bytes, condition, expiryText(expiresAt), envelope];
}

/**
 * The keys that a message of the channel names, one character for each byte; undefined when it names none in
 * particular. Each follows its length, as `5:hello`.
 */
function readChangedKeys(message: Buffer): string[] | undefined {
  const keys: string[] = [];
  for (let at = 0; at < message.length;) {
    const colon = message.indexOf(':', at);
    const length = Number(message.toString('latin1', at, colon));
    if (colon < 0 || !Number.isSafeInteger(length)) return undefined;
    at = colon + 1 + length;
    keys.push(message.toString('latin1', colon + 1, at));
  }
  return keys;
}
