import { existsSync, realpathSync } from 'node:fs';
import type { Clock } from '../../core/time/clock.ts';
import { isFromAhead } from '../../core/time/deadline.ts';
import { damaged } from '../damage.ts';
import { decodeKey, toKeyRange } from '../key-codec.ts';
import type { Backend } from '../backend.ts';
import { BACKENDS } from '../backends/registry.ts';
import { backendOf } from '../find-backend.ts';
import { openStore } from '../open-store.ts';
import type { StoreConfig } from '../store-config.ts';
import { StoreError, type Key } from '../store.ts';
import { fromEnvelope } from '../value-codec.ts';
import { openRaw, openRawTarget } from './open-raw.ts';
import type { RawStore, RawTarget } from './raw-store.ts';
import { createSumming, walk, type Summary, type WalkOptions } from './summary.ts';

export interface MigrateOptions extends WalkOptions {
  readonly from: StoreConfig;
  readonly to: StoreConfig;
  readonly clock: Clock;
  /** Processes that use a store keep rows below this key; they expire soon after a process. */
  readonly leases: Key;
  /** Default: those of the registry. */
  readonly backends?: readonly Backend[];
  /** Runs when the rows are copied and both stores are read again. */
  readonly onCopied: () => void;
}

/**
 * Copies every row with its version and expiry into an empty store, then reads both again and compares counts
 * and checksums. Until that is done no gateway starts on the target; an incomplete copy is restarted by the
 * next one of the same source. Rejects with `StoreError`: `locked` while a process uses either store or the
 * target holds something else, `corrupt` when the copy differs.
 */
export async function migrateStore(options: MigrateOptions): Promise<Summary> {
  const { from, to, clock, backends = BACKENDS } = options;
  if (nameOf(from, backends) === nameOf(to, backends)) throw sameStore();
  const source = await openSource(options);
  try {
    const target = await openRawTarget(to, clock, backends);
    try {
      return await copy(source, target, options);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Opens the source in its present form, so that it has an identity. */
async function openSource({ from, clock, leases, backends }: MigrateOptions): Promise<RawStore> {
  const first = await openRaw(from, { clock, isHeld: false }, backends);
  try {
    await assertUnused(first, { what: 'source', clock, leases });
    if (first.meta.incoming) throw locked('the source is itself half copied');
  } finally {
    await first.close();
  }
  const opened = await openStore(from, { clock }, backends);
  await opened.close();
  return openRaw(from, { clock, isHeld: true }, backends);
}

async function copy(
  source: RawStore,
  target: RawTarget,
  options: MigrateOptions,
): Promise<Summary> {
  const { clock, leases } = options;
  const from = source.meta.identity ?? '';
  await assertTakes(target, from);
  await assertUnused(target, { what: 'target', clock, leases });
  await target.begin({ from, startedAt: clock.now() });
  const copied = createSumming();
  for await (const rows of walk(source, options)) {
    for (const { key, envelope } of rows) assertReadable(key, envelope);
    await target.write(rows);
    for (const row of rows) copied.add(row);
  }
  const { rows: count, highestVersion } = copied.result();
  const [fault] = await source.faults(count);
  if (fault) throw damaged(fault, 'the source');
  await target.flush(Math.max(highestVersion, await source.lastVersion()));
  options.onCopied();
  const found = await summaryOf(target, options);
  assertSame(await summaryOf(source, options), copied.result(), 'the source changed meanwhile');
  assertSame(copied.result(), found, 'the copy is not the same');
  await assertUnused(source, { what: 'source', clock, leases });
  await assertUnused(target, { what: 'target', clock, leases: [] });
  await target.complete();
  return found;
}

/** @throws StoreError `corrupt` */
function assertReadable(key: Buffer, envelope: Buffer): void {
  decodeKey(key);
  fromEnvelope(envelope);
}

async function assertTakes({ meta, read }: RawTarget, from: string): Promise<void> {
  if (meta.identity === from) throw sameStore();
  if (meta.incoming) {
    if (meta.incoming.from === from) return;
    throw locked('the target is half copied from another store; name an empty one');
  }
  if ((await read(undefined)).length > 0) {
    throw locked('the target is not empty; name a path, prefix or schema that holds nothing');
  }
}

interface UseOptions {
  readonly what: string;
  readonly clock: Clock;
  /** Empty: rows are not looked at. */
  readonly leases: Key;
}

async function assertUnused(store: RawStore, { what, clock, leases }: UseOptions): Promise<void> {
  const users = await store.users();
  if (users.length > 0) {
    throw locked(`the ${what} is in use by ${users.join(', ')}; stop the gateway first`);
  }
  if (((await store.waiting?.()) ?? []).length > 0) {
    throw locked(
      `calls of a gateway that was killed are not yet in the ${what}; start a gateway on it, and stop it`,
    );
  }
  if (leases.length === 0) return;
  const { lower, upper } = toKeyRange(leases);
  const lives = (await store.read(lower)).some(
    ({ key, expiresAt }) =>
      // A gateway that lives renews its lease by the clock as it is.
      Buffer.compare(key, upper) < 0 &&
      expiresAt > clock.now() &&
      !isFromAhead(expiresAt, clock.now()),
  );
  if (lives) {
    throw locked(
      `a gateway used the ${what} a few seconds ago; stop it, or if it was killed, try again in 15 seconds`,
    );
  }
}

async function summaryOf(store: RawStore, options: WalkOptions): Promise<Summary> {
  const summing = createSumming();
  for await (const rows of walk(store, options)) for (const row of rows) summing.add(row);
  return summing.result();
}

function assertSame(expected: Summary, found: Summary, what: string): void {
  if (expected.rows === found.rows && expected.checksum === found.checksum) return;
  const of = ({ rows, checksum }: Summary) => `${rows} rows, ${checksum.slice(0, 12)}`;
  throw new StoreError('corrupt', `${what}: ${of(expected)} became ${of(found)}; run it again`);
}

/** Names a store alike by whatever path or link its folder is given. */
function nameOf({ driver, path, options }: StoreConfig, backends: readonly Backend[]): string {
  const real = path !== undefined && existsSync(path) ? realpathSync(path) : path;
  const isDatabase = backendOf(driver, backends)?.place.kind === 'server';
  return JSON.stringify([driver, isDatabase ? null : real, options ?? {}]);
}

const sameStore = (): StoreError => locked('source and target are the same store');

function locked(message: string): StoreError {
  return new StoreError('locked', message);
}
