import type { AdminKind, Client } from '../../client/create-client.ts';
import { collect } from '../../client/http/pages.ts';
import type { Inventory } from '../../config/actual/inventory.ts';
import type { InventoryClient, ResourceClient } from '../../config/actual/resource-client.ts';

/** Paths of the kinds in the admin API. */
const PATHS = {
  organization: 'organizations',
  key: 'keys',
  provider: 'providers',
  model: 'models',
  api: 'apis',
  skill: 'skills',
  agent: 'agents',
  credential: 'credentials',
  service: 'services',
  deployment: 'deployments',
} as const satisfies Record<Parameters<ResourceClient['list']>[0], AdminKind>;

function toInventoryClient(client: Client): InventoryClient {
  const inventories = client.admin('inventories');
  return {
    async list() {
      try {
        return (await collect(inventories.list())).map(toInventory);
      } catch (thrown) {
        if ((thrown as { status?: number }).status === 404) return undefined;
        throw thrown;
      }
    },
    async write(namespace, before, next) {
      if (before === undefined) await inventories.create({ name: namespace, ...next });
      else await inventories.update(before.id, { ...next, expected_version: before.version });
    },
    remove: ({ id }) => inventories.delete(id),
  };
}

function toInventory(view: Readonly<Record<string, unknown>>): Inventory {
  const { name, ...rest } = view;
  return { ...rest, namespace: String(name) } as unknown as Inventory;
}

/**
 * Creates the client of plan and apply over HTTP. Interrupting stops before the next call, not in
 * the middle.
 */
export function toResourceClient(client: Client): ResourceClient {
  return {
    inventories: toInventoryClient(client),
    list: (kind) => collect(client.admin(PATHS[kind]).list()),
    create: (kind, body, name) => client.admin(PATHS[kind]).create(body, undefined, name),
    update: (kind, id, { body, expectedVersion }) =>
      client.admin(PATHS[kind]).update(id, { ...body, expected_version: expectedVersion }),
    delete: (kind, id) => client.admin(PATHS[kind]).delete(id),
    archive: async (kind, id) => client.admin(PATHS[kind]).action(id, 'archive'),
    act: async (kind, id, action) => client.admin(PATHS[kind]).action(id, action),
  };
}
