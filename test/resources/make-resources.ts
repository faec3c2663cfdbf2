import { GATEWAY_ORIGIN } from '../../src/audit/audit-entry.ts';
import type { Origin } from '../../src/audit/audit-entry.ts';
import { GatewayError } from '../../src/core/errors.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { createKeyHasher, createSealer } from '../../src/core/seal.ts';
import type { KeyHasher } from '../../src/core/seal.ts';
import { createResourceHandler } from '../../src/resources/store/handlers.ts';
import { readObject } from '../../src/resources/fields/parse-body.ts';
import { bindResources } from '../../src/resources/registry.ts';
import type { CallerRights } from '../../src/resources/store/resource-request.ts';
import { Repository } from '../../src/resources/store/repository.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { RESOURCE_VALUES } from '../support/value-bounds.ts';

/** What the operator of these tests declared. */
const OPERATOR = { harnesses: new Set(['coder']), mcpServers: new Set(['files']) };

const ALL_RIGHTS: CallerRights = { has: () => true, may: () => true };

export const MASTER_KEY = Buffer.from('test-master-key-of-32-characters');

export interface Call {
  status: number;
  body: Record<string, any>;
  headers: Record<string, string>;
}

export interface CallOptions {
  query?: string;
  body?: unknown;
  organization?: string;
  platform?: boolean;
  by?: Origin;
  rights?: CallerRights;
}

export interface Resources {
  store: Store;
  clock: FakeClock;
  hasher: KeyHasher;
  repository: Repository;
  /** One request to a collection, `METHOD path?query` below `/admin/v1/`; errors come back as replies. */
  call(request: string, options?: CallOptions): Promise<Call>;
  /** Another process on the same store. */
  other(masterKeys?: readonly Uint8Array[]): Resources;
}

export function makeResources(
  shared: { store?: Store; clock?: FakeClock; masterKeys?: readonly Uint8Array[] } = {},
): Resources {
  const { clock = createFakeClock(), masterKeys = [MASTER_KEY] } = shared;
  const store = shared.store ?? openMemoryStore(clock);
  const hasher = createKeyHasher(masterKeys);
  const repository = new Repository({
    store,
    clock,
    ids: createIdSource(clock),
    sealer: createSealer(masterKeys),
    definitions: bindResources({ hasher, clock, operator: OPERATOR, webhooks: [] }),
  });
  return {
    store,
    clock,
    hasher,
    repository,
    call: async (request, options = {}) => {
      try {
        return { headers: {}, ...(await send(repository, request, options)) };
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        const { status, message, code, type, param, retry, headers = {} } = error;
        return { status, headers, body: { code, message, type, param, retry } };
      }
    },
    other: (keys = masterKeys) => makeResources({ store, clock, masterKeys: keys }),
  };
}

async function send(repository: Repository, request: string, options: CallOptions) {
  const { body, organization = 'org_caller', platform = true, query = '' } = options;
  const { by = GATEWAY_ORIGIN, rights = ALL_RIGHTS } = options;
  const [method = '', path = ''] = request.split(' ');
  const [collection, ...segments] = path.split('/').map(decodeURIComponent);
  const definition = repository.definitions.find((one) => one.collection === collection);
  if (!definition) throw new Error(`no collection ${collection}`);
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body ?? {}));
  return createResourceHandler(
    definition,
    repository,
  )({
    method,
    segments,
    query: new URLSearchParams(query),
    body: async (options) => readObject(bytes, { ...options, values: RESOURCE_VALUES }),
    organization,
    platform,
    by,
    rights,
  });
}

/** Everything that the store holds, as one text: what a thief of the database could read. */
export async function dump(store: Store): Promise<string> {
  return JSON.stringify(await store.list({ prefix: [], limit: 10_000 }));
}
