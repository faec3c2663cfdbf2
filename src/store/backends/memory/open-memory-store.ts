import type { Clock } from '../../../core/time/clock.ts';
import { createSteadyClock } from '../../../core/time/steady-clock.ts';
import type { Store } from '../../store.ts';
import { createTableStore } from '../../table-store.ts';
import { createTable } from '../../table.ts';

/** A store at process scope that ends with the process: for tests, mocks and throwaway runs. */
export function openMemoryStore(clock: Clock): Store {
  const steady = createSteadyClock(clock);
  return createTableStore({
    driver: 'memory',
    clock,
    steady,
    table: createTable(steady),
    lastVersion: 0,
    persist: () => undefined,
    ping: async () => undefined,
    close: async () => undefined,
  });
}
