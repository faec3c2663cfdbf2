import { defineBackend } from '../../backend.ts';
import type { StoreConfig } from '../../store-config.ts';
import { FILE_DRIVERS } from '../../unstorage/file-drivers.ts';

/** A store on any unstorage driver. */
export const journal = defineBackend({
  drivers: [],
  others: {
    description: 'the name of an unstorage driver',
    names: async () => (await import('../../unstorage/load-driver.ts')).unstorageDrivers(),
  },
  scope: 'process',
  packages: ['unstorage'],
  place: { kind: 'folder', drivers: FILE_DRIVERS },
  async open(config, { clock }) {
    const { openJournalStore } = await import('./open-journal-store.ts');
    return openJournalStore(await driverOf(config), clock);
  },
  raw: {
    async open(config, { clock, isHeld }) {
      const { openHeldJournal, openRawJournal } = await import('./raw-journal.ts');
      const driver = await driverOf(config);
      return isHeld ? openHeldJournal(driver, clock) : openRawJournal(driver);
    },
    async openTarget(config, clock) {
      const { openRawJournalTarget } = await import('./raw-journal.ts');
      return openRawJournalTarget(await driverOf(config), clock);
    },
  },
});

async function driverOf(config: StoreConfig) {
  const { loadDriver } = await import('../../unstorage/load-driver.ts');
  return loadDriver(config);
}
