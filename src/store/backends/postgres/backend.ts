import { defineBackend } from '../../backend.ts';

/** A store on PostgreSQL 13 or newer. */
export const postgres = defineBackend({
  drivers: ['postgres'],
  scope: 'cluster',
  packages: ['pg'],
  place: {
    kind: 'server',
    schemes: ['postgres', 'postgresql'],
    parameters: { schema: 'text' },
    form: 'postgres://HOST/DATABASE?schema=NAME',
  },
  async open({ options = {} }, { clock }) {
    const { openPostgresStore } = await import('./open-postgres-store.ts');
    return openPostgresStore(options, clock);
  },
  raw: {
    async open({ options = {} }, { isToServe }) {
      const { openRawPostgres } = await import('./raw-postgres.ts');
      return openRawPostgres(options, { isToServe });
    },
    async openTarget({ options = {} }) {
      const { openRawPostgresTarget } = await import('./raw-postgres.ts');
      return openRawPostgresTarget(options);
    },
  },
});
