import { closestMatch } from 'leven';
import { StoreError } from './store.ts';

/** Lists the drivers; of two spellings of a name, only that without capitals. */
export function unknownDriver(driver: string, all: readonly string[]): StoreError {
  const known = [...new Set(all)].filter((name) => !/[A-Z]/.test(name));
  const near = closestMatch(driver, known, { maxDistance: Math.max(2, driver.length / 3) });
  const meant = near === undefined ? '' : `did you mean ${near}? `;
  return new StoreError(
    'unavailable',
    `there is no store driver ${JSON.stringify(driver)}; ${meant}known are ${known.join(', ')}`,
  );
}
