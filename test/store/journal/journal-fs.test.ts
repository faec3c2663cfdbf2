import { openStore } from '../../../src/store/open-store.ts';
import { storeSurvivesKill, temporaryDirectory } from '../../conformance/store-kill.ts';
import { storeConformance, type StoreSite } from '../../conformance/store.ts';

storeConformance('journal on fs', async (clock) => {
  const path = await temporaryDirectory();
  const open = () => openStore({ driver: 'fs', path }, { clock });
  const site: StoreSite = {
    store: await open(),
    async reopen() {
      await site.store.close();
      return (site.store = await open());
    },
  };
  return site;
});

storeSurvivesKill('fs');
