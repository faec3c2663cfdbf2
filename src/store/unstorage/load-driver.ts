import { reasonOf } from '../../core/errors.ts';
import { builtinDrivers, type Driver } from 'unstorage';
import type { StoreConfig } from '../store-config.ts';
import { StoreError } from '../store.ts';
import { unknownDriver } from '../unknown-driver.ts';

/** Names of the drivers that unstorage brings, in every spelling. */
export const unstorageDrivers = (): readonly string[] => Object.keys(builtinDrivers);

/**
 * The unstorage driver of that name, with `path` as its `base` unless `options` name one. Rejects
 * with `unavailable` when the name is unknown, a package of the driver is missing, or the driver
 * refuses its options.
 */
export async function loadDriver({ driver, path, options }: StoreConfig): Promise<Driver> {
  const specifier = Object.entries(builtinDrivers).find(([name]) => name === driver)?.[1];
  if (!specifier) throw unknownDriver(driver, unstorageDrivers());
  try {
    const { default: create } = await import(specifier);
    return create({ ...(path !== undefined && { base: path }), ...options });
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new StoreError('unavailable', `cannot load the store driver ${driver}: ${reason}`, {
      cause,
    });
  }
}
