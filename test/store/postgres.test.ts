import { afterAll, beforeAll, describe } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { storeConformance, type StoreSite } from '../conformance/store.ts';
import { type DatabaseServer, findProgram, startPostgres } from './support/database-server.ts';

const program = findProgram('postgres');
let server: DatabaseServer;
let sites = 0;

describe.skipIf(program === undefined)('on PostgreSQL', () => {
  beforeAll(async () => {
    server = await startPostgres(program!);
  });
  afterAll(() => server.stop());

  storeConformance('postgres', async (clock) => {
    const options = { url: server.url, schema: `site${++sites}`, connections: 4 };
    const open = () => openStore({ driver: 'postgres', options }, { clock });
    const site: StoreSite = {
      store: await open(),
      async reopen() {
        await site.store.close();
        return (site.store = await open());
      },
    };
    return site;
  });
});
