import { randomBytes } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import type { SecretRef } from '../../config/objects/references.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import { createSealer, SealError } from '../../core/seal.ts';
import type { Sealer } from '../../core/seal.ts';
import { ROTATE_MASTER_KEY, weaknessOf } from '../../core/weak-key.ts';
import { StoreError } from '../../store/store.ts';
import type { Key, Store } from '../../store/store.ts';
import { writeOnce } from './write-once.ts';

export interface MasterKeyInput {
  readonly secrets: ServerConfig['secrets'];
  /** Resolves a secret reference of the configuration. */
  resolve(reference: SecretRef): Promise<string>;
  /** False: a store that nothing was sealed in is refused, and no key is made. Default true. */
  readonly mayMake?: boolean;
}

/** Keys that seal secrets at rest: the first seals, all of them open. */
export interface MasterKeys {
  readonly keys: readonly Uint8Array[];
  /** Advice for a key that is easy to guess; undefined for others. */
  readonly warning: string | undefined;
}

interface Current {
  readonly key: string;
  /** Path of the file that was made for it; undefined for a key that was there. */
  readonly made?: string;
}

/** Sealed under the master key that the store was made with. */
const CHECK: Key = ['seal', 'check'];
const PLACE = 'seal/check';
const EASY = 'the master key is easy to guess';

/** True for a store that was made with a master key. */
export async function isSealed(store: Pick<Store, 'get'>): Promise<boolean> {
  return (await store.get(CHECK)) !== undefined;
}

/**
 * The master keys of a store: from the configuration, or from a file that the first start on a new store makes
 * with mode 0600; never from the store. The store remembers the key that it was made with, so that a wrong one
 * stops the start instead of making every secret unreadable (requirement store.secrets.key-rotation); then no
 * file is left of this start.
 *
 * @throws Error that says what to do: the key does not fit or is missing, is easy to guess on a new store, or
 *   its file can be read by other users
 */
export async function openMasterKeys(
  store: Pick<Store, 'get' | 'commit'>,
  input: MasterKeyInput,
): Promise<MasterKeys> {
  const { secrets, resolve, mayMake = true } = input;
  const sealed = (await store.get<string>(CHECK))?.value;
  if (sealed === undefined && !mayMake)
    throw new Error('the store is empty: no gateway has used it');
  const current = await currentKey(input, sealed !== undefined);
  const previous = await Promise.all(secrets.previousKeys.map(resolve));
  const keys = [current.key, ...previous].map((key) => Buffer.from(key, 'utf8'));
  const weakness = weaknessOf(current.key);
  try {
    await claim(store, { sealer: createSealer(keys), sealed, weakness });
  } catch (error) {
    // A store that gave no answer may be sealed with it by now.
    const isRefused = !(error instanceof StoreError);
    if (current.made !== undefined && isRefused) await rm(current.made, { force: true });
    throw error;
  }
  // Not refused, or an upgrade would stop production.
  return { keys, warning: weakness && `${EASY}: ${weakness}; ${ROTATE_MASTER_KEY}` };
}

async function currentKey(
  { secrets: { masterKey, masterKeyFile: path }, resolve }: MasterKeyInput,
  isSealed: boolean,
): Promise<Current> {
  if (masterKey) return { key: await resolve(masterKey) };
  const mode = await modeOf(path);
  if (mode === undefined && isSealed)
    throw new Error(
      `${path} does not exist, and this store was made with a master key: put the file there (of several machines, that of the first), or set server.secrets.master_key to the same key`,
    );
  if (((mode ?? 0) & 0o077) !== 0)
    throw new Error(`${path} can be read by other users; run: chmod 600 ${path}`);
  const fresh = randomBytes(32).toString('hex');
  const key = await writeOnce(path, { what: 'the master key of this store', make: () => fresh });
  return { key, ...(key === fresh && { made: path }) };
}

/** Undefined for a file that is not there. */
async function modeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

interface Claim {
  readonly sealer: Sealer;
  /** The check of the store; undefined for a new one. */
  readonly sealed: string | undefined;
  readonly weakness: string | undefined;
}

async function claim(
  store: Pick<Store, 'get' | 'commit'>,
  { sealer, sealed, weakness }: Claim,
): Promise<void> {
  if (sealed !== undefined) return assertFits(sealer, sealed);
  if (weakness !== undefined)
    throw new Error(
      `${EASY}: ${weakness}; make one with \`openssl rand -hex 32\` and set server.secrets.master_key to it`,
    );
  const value = sealer.seal('ok', PLACE);
  const { ok } = await store.commit([{ type: 'put', key: CHECK, value, ifAbsent: true }]);
  if (ok) return;
  // Another process has made the store meanwhile.
  const theirs = await store.get<string>(CHECK);
  assertFits(sealer, theirs?.value ?? '');
}

function assertFits(sealer: Sealer, sealed: string): void {
  try {
    sealer.open(sealed, PLACE);
  } catch (error) {
    if (!(error instanceof SealError) || error.isChanged) throw error;
    throw new Error(
      'the master key does not fit this store; configure the key it was made with (server.secrets.master_key or master_key_file), or list it under server.secrets.previous_keys',
      { cause: error },
    );
  }
}
