import { expect, it } from 'vitest';
import { createLiveCatalog } from '../../src/server/live-catalog.ts';
import { makeResources } from '../resources/make-resources.ts';
import { eventually } from '../support/gateway.ts';
import { verifies } from '../requirements.ts';

it(
  verifies('ops.reload.streams', 'a reading that began earlier never replaces a later one'),
  async () => {
    const { repository } = makeResources();
    const list = repository.list.bind(repository);
    let held = false;
    let letGo = (): void => undefined;
    // The first reading of models is done, and is held back on its way.
    repository.list = async (definition, query) => {
      const found = await list(definition, query);
      if (definition.kind === 'model' && !held) {
        held = true;
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
      }
      return found;
    };
    const catalog = createLiveCatalog({
      repository,
      defaults: { firstContent: 1, idle: 1, total: 1 },
      firstContentSet: false,
      onBadProvider: () => undefined,
      onBadApi: () => undefined,
    });
    const earlier = catalog.reload();
    await eventually(() => held);
    const everywhere = { organization: null };
    await repository.create(
      repository.definitionOf('provider'),
      { name: 'mock', type: 'mock' },
      everywhere,
    );
    const model = { name: 'acme/new', routes: [{ provider: 'mock' }] };
    await repository.create(repository.definitionOf('model'), model, everywhere);
    await catalog.reload();
    expect([...catalog.current().models.keys()]).toEqual(['acme/new']);
    letGo();
    await earlier;
    expect([...catalog.current().models.keys()]).toEqual(['acme/new']);
    expect(catalog.current().models.get('acme/new')?.routes).toHaveLength(1);
  },
);
