import { KINDS, kindsWhere } from '../../src/core/kinds.ts';
import type { Handler } from '../client/fake-server.ts';

type Resource = Record<string, any>;

export interface FakeAdmin {
  handler: Handler;
  /** By kind path, `providers`. */
  resources: Record<string, Resource[]>;
}

const TYPES: Record<string, string> = Object.fromEntries(
  kindsWhere(({ isDeclared }) => isDeclared).map((kind) => [kind, KINDS[kind].type]),
);

/** The admin API in memory: lists of 100 a page, versions, unique names; secrets do not come back. */
export function createFakeAdmin(options: { refuse?: (name: string) => boolean } = {}): FakeAdmin {
  let serial = 0;
  const resources: FakeAdmin['resources'] = Object.fromEntries(
    Object.keys(TYPES).map((collection) => [collection, []]),
  );
  const add = (kind: string, body: Resource) => {
    const { value: _value, api_key, type, ...fields } = body;
    const made: Resource = {
      labels: {},
      enabled: true,
      ...fields,
      id: `${TYPES[kind]}_${++serial}`,
      type: TYPES[kind],
      version: 1,
    };
    if (kind === 'providers') {
      made['provider_type'] = type ?? fields['provider_type'];
      made['api_key_configured'] = api_key !== undefined;
    }
    if (kind === 'models') made['model_type'] = type ?? fields['model_type'] ?? 'llm';
    resources[kind]?.push(made);
    return made;
  };
  add('organizations', { name: 'default' });

  const handler: Handler = ({ method, path, query, body }) => {
    const [, , , kind = '', id] = path.split('/').map(decodeURIComponent);
    const all = resources[kind];
    if (all === undefined) return { status: 404, body: { error: 'not found' } };
    if (method === 'GET' && id === undefined) {
      const from = Number(query.get('page') ?? 0);
      const next = from + 100;
      return {
        body: { data: all.slice(from, next), next_page: next < all.length ? String(next) : null },
      };
    }
    if (method === 'POST') {
      if (options.refuse?.(body.name))
        return { status: 422, body: { error: { type: 'unprocessable', message: 'refused' } } };
      return { status: 201, body: add(kind, body) };
    }
    const found = all.find((one) => one['id'] === id);
    if (found === undefined) return { status: 404, body: { error: 'not found' } };
    if (method === 'PATCH') {
      const { expected_version, type: _type, api_key, ...fields } = body;
      if (expected_version !== undefined && expected_version !== found['version']) {
        return { status: 409, body: { error: { type: 'conflict', message: 'version' } } };
      }
      Object.assign(found, fields, { version: found['version'] + 1 });
      if (api_key !== undefined) found['api_key_configured'] = true;
      return { body: found };
    }
    all.splice(all.indexOf(found), 1);
    return { body: { id, type: `${TYPES[kind]}_deleted`, deleted: true } };
  };
  return { handler, resources };
}
