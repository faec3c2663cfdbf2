import type { Clock } from '../../core/time/clock.ts';
import type { RawAccess } from '../backend.ts';
import { BACKENDS } from '../backends/registry.ts';
import { findBackend } from '../find-backend.ts';
import type { StoreConfig } from '../store-config.ts';
import { StoreError } from '../store.ts';
import type { RawStore, RawTarget } from './raw-store.ts';

/**
 * Opens a store that is there, for reading; its format stays as it is. `isHeld`: keeps others from
 * the store as far as its driver can. Rejects with `StoreError`.
 */
export async function openRaw(
  config: StoreConfig,
  options: { clock: Clock; isHeld: boolean },
  backends = BACKENDS,
): Promise<RawStore> {
  return (await accessTo(config, backends)).open(config, options);
}

/** Opens or makes a store that another one is to be copied into. Rejects with `StoreError`. */
export async function openRawTarget(
  config: StoreConfig,
  clock: Clock,
  backends = BACKENDS,
): Promise<RawTarget> {
  return (await accessTo(config, backends)).openTarget(config, clock);
}

async function accessTo({ driver }: StoreConfig, backends: typeof BACKENDS): Promise<RawAccess> {
  const { raw } = await findBackend(driver, backends);
  if (raw) return raw;
  throw new StoreError('unavailable', `the ${driver} store ends with its process`);
}
