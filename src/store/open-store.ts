import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../core/time/clock.ts';
import { AbsentStore } from './damage.ts';
import type { Backend } from './backend.ts';
import { BACKENDS } from './backends/registry.ts';
import { findBackend } from './find-backend.ts';
import type { RawStore } from './raw/raw-store.ts';
import type { StoreConfig } from './store-config.ts';
import { assertWhole } from './store-meta.ts';
import { StoreError, type Store } from './store.ts';

/**
 * Opens the configured store, loading only what its driver needs. Rejects with `StoreError`.
 *
 * @example
 * ```ts
 * import { openStore, systemClock } from 'agent-gateway';
 *
 * const place = { driver: 'lmdb', path: '.gateway/store' };
 * const store = await openStore(place, { clock: systemClock });
 * await store.commit([{ type: 'put', key: ['acme', 'seen'], value: { times: 1 } }]);
 * console.log(await store.get(['acme', 'seen']));
 * await store.close();
 * ```
 */
export async function openStore(
  config: StoreConfig,
  { clock }: { clock: Clock },
  backends = BACKENDS,
): Promise<Store> {
  const backend = await findBackend(config.driver, backends);
  return withPackages(backend, config.driver, () => backend.open(config, { clock }));
}

/**
 * Opens the rows of a configured store for a look before a start, which makes and changes nothing: undefined
 * where nothing is there yet. Rejects with the `StoreError` that a start would meet, as far as a reader can see
 * it; holds a store of one process until it is closed.
 */
export async function openToLook(
  config: StoreConfig,
  { clock }: { clock: Clock },
  backends = BACKENDS,
): Promise<RawStore | undefined> {
  const backend = await findBackend(config.driver, backends);
  const { raw, place } = backend;
  if (!raw) return undefined;
  if (place.kind === 'folder' && place.drivers.includes(config.driver)) {
    const file = join(config.path ?? '', place.file ?? '');
    const found = await stat(file).catch(() => undefined);
    if (!found || (found.isFile() && found.size === 0)) return undefined;
  }
  const open = async (): Promise<RawStore> => {
    const store = await raw.open(config, { clock, isHeld: true, isToServe: true });
    try {
      assertWhole(store.meta);
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  };
  return withPackages(backend, config.driver, open).catch((error: unknown) => {
    if (error instanceof AbsentStore) return undefined;
    throw error;
  });
}

async function withPackages<T>(
  { packages }: Backend,
  driver: string,
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const missing = missingPackage(error, packages);
    if (missing === undefined) throw error;
    const message = `the ${driver} store needs the package ${missing}, which is not installed`;
    throw new StoreError('unavailable', message, { cause: error });
  }
}

function missingPackage(error: unknown, packages: readonly string[]): string | undefined {
  const isMissing = error instanceof Error && Reflect.get(error, 'code') === 'ERR_MODULE_NOT_FOUND';
  return isMissing ? packages.find((name) => error.message.includes(`'${name}'`)) : undefined;
}
