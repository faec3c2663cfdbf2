import type { Clock } from '../core/time/clock.ts';
import { BACKENDS } from './backends/registry.ts';
import { findBackend } from './find-backend.ts';
import type { StoreConfig } from './store-config.ts';
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
  try {
    return await backend.open(config, { clock });
  } catch (error) {
    const missing = missingPackage(error, backend.packages);
    if (missing === undefined) throw error;
    const message = `the ${config.driver} store needs the package ${missing}, which is not installed`;
    throw new StoreError('unavailable', message, { cause: error });
  }
}

function missingPackage(error: unknown, packages: readonly string[]): string | undefined {
  const isMissing = error instanceof Error && Reflect.get(error, 'code') === 'ERR_MODULE_NOT_FOUND';
  return isMissing ? packages.find((name) => error.message.includes(`'${name}'`)) : undefined;
}
