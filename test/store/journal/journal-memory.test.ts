import { openJournalStore } from '../../../src/store/backends/journal/open-journal-store.ts';
import { storeConformance, type StoreSite } from '../../conformance/store.ts';
import { createBlobMap } from '../support/blob-map.ts';

storeConformance('journal in memory', async (clock) => {
  const driver = createBlobMap();
  const site: StoreSite = {
    store: await openJournalStore(driver, clock),
    async reopen() {
      await site.store.close();
      return (site.store = await openJournalStore(driver, clock));
    },
  };
  return site;
});
