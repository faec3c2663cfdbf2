import type { Client } from '../../client/create-client.ts';
import { collect } from '../../client/http/pages.ts';
import type { Inventory } from '../../config/actual/inventory.ts';
import type {
  AskedSecret,
  ComparedSecret,
  InventoryClient,
  ResourceClient,
} from '../../config/actual/resource-client.ts';
import { collectionOf } from '../../core/kinds.ts';

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

/** Secrets of one call. */
const SECRETS = 200;

/** Undefined where the gateway is older, or compares none for this key. */
async function compareSecrets(
  client: Client,
  asked: readonly AskedSecret[],
): Promise<ComparedSecret[] | undefined> {
  const answers: ComparedSecret[] = [];
  try {
    for (let at = 0; at < asked.length; at += SECRETS)
      answers.push(...(await client.operators.compareSecrets(asked.slice(at, at + SECRETS))));
  } catch (thrown) {
    const { status } = thrown as { status?: number };
    if (status === 403 || status === 404) return undefined;
    throw thrown;
  }
  return answers;
}

/**
 * Client of plan and apply over HTTP. An interrupt stops before the next call, not in the middle.
 */
export function toResourceClient(client: Client): ResourceClient {
  return {
    inventories: toInventoryClient(client),
    compareSecrets: (asked) => compareSecrets(client, asked),
    list: (kind) => collect(client.admin(collectionOf(kind)).list()),
    create: (kind, body, name) => client.admin(collectionOf(kind)).create(body, undefined, name),
    update: (kind, id, { body, expectedVersion }) =>
      client.admin(collectionOf(kind)).update(id, { ...body, expected_version: expectedVersion }),
    delete: (kind, id) => client.admin(collectionOf(kind)).delete(id),
    archive: async (kind, id) => client.admin(collectionOf(kind)).action(id, 'archive'),
    act: async (kind, id, action) => client.admin(collectionOf(kind)).action(id, action),
  };
}
