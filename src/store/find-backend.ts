import type { Backend } from './backend.ts';
import { BACKENDS } from './backends/registry.ts';

/** The backend that has this driver, or else the one for all other drivers. */
export function backendOf(driver: string, backends = BACKENDS): Backend | undefined {
  const named = backends.find(({ drivers }) => drivers.includes(driver));
  return named ?? backends.find(({ others }) => others !== undefined);
}

/** Rejects with `StoreError` `unavailable` for a driver that no backend knows. */
export async function findBackend(driver: string, backends = BACKENDS): Promise<Backend> {
  const found = backendOf(driver, backends);
  const others = (await found?.others?.names()) ?? [];
  if (found && [...found.drivers, ...others].includes(driver)) return found;
  const { unknownDriver } = await import('./unknown-driver.ts');
  throw unknownDriver(driver, [...backends.flatMap(({ drivers }) => drivers), ...others]);
}

/** True when the rows of a store with this driver are files of this machine. */
export function isInFiles(driver: string): boolean {
  const place = backendOf(driver)?.place;
  return place?.kind === 'folder' && place.drivers.includes(driver);
}

/** True when the only process on such a store may keep a journal: one machine shares the rows. */
export function keepsJournal(driver: string): boolean {
  return backendOf(driver)?.scope === 'host';
}

/** The file that every store with this driver has in its folder; undefined where none is sure. */
export function fileOf(driver: string): string | undefined {
  const place = backendOf(driver)?.place;
  return place?.kind === 'folder' ? place.file : undefined;
}

/** Lists the addresses by which commands name stores that outlive a process, for help and errors. */
export function addressForms(backends = BACKENDS): readonly string[] {
  return backends.flatMap(({ place }) => {
    if (place.kind === 'memory') return [];
    return place.kind === 'folder' ? [`${place.drivers[0]}:PATH`] : [place.form];
  });
}
