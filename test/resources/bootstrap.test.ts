import { describe, expect, it } from 'vitest';
import { bootstrap } from '../../src/resources/bootstrap.ts';
import { createKeyDirectory } from '../../src/resources/kinds/key-directory.ts';
import { SCOPES } from '../../src/core/access.ts';
import { verifies } from '../requirements.ts';
import { makeResources } from './make-resources.ts';

describe('bootstrap', () => {
  it(
    verifies(
      'console-free-bootstrap',
      'makes one organization, an admin key and a client key, once',
    ),
    async () => {
      const resources = makeResources();
      const first = await bootstrap(resources.repository);
      const directory = createKeyDirectory(resources);
      await directory.update('everything');
      expect(directory.lookup(first!.adminKey)).toMatchObject({
        keyName: 'admin',
        organizationId: first!.organization,
        scopes: new Set(SCOPES),
      });
      expect(directory.lookup(first?.clientKey ?? '')).toMatchObject({
        keyName: 'default',
        scopes: null,
      });
      expect(await bootstrap(resources.other().repository)).toBeUndefined();
      expect((await resources.call('GET organizations')).body['data']).toHaveLength(1);
      expect((await resources.call('GET keys')).body['data']).toHaveLength(2);
    },
  );

  it('finishes what a start left that ended after the organization', async () => {
    const { repository, call } = makeResources();
    const { id } = (await call('POST organizations', { body: { name: 'default' } })).body;
    expect((await bootstrap(repository))?.organization).toBe(id);
  });

  it('gives the keys to one of two processes that start at once', async () => {
    const resources = makeResources();
    const starts = [resources, resources.other()].map(({ repository }) => bootstrap(repository));
    const made = (await Promise.all(starts)).filter((start) => start !== undefined);
    expect(made).toHaveLength(1);
    expect((await resources.call('GET keys')).body['data']).toHaveLength(2);
  });
});
