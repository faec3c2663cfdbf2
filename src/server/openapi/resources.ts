import type { OrganizationApi, ResourceDefinition } from '../../resources/store/define-resource.ts';
import type { Dialect } from '../../resources/store/dialect.ts';
import { fieldSchema, viewSchema, type ObjectSchema } from '../../resources/store/view-schema.ts';
import { CHILDREN, PAGING } from './operations.ts';
import type { OperationDoc } from './operations.ts';
import { list, object, pageOf, schemaRef } from './schemas.ts';
import type { JsonSchema } from './schemas.ts';

export interface ResourceDocs {
  /** `POST /v1/agents` → its input and answer. */
  readonly operations: Readonly<Record<string, OperationDoc>>;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

type Properties = Readonly<Record<string, JsonSchema>>;

const BOUNDS = ['gt', 'gte', 'lt', 'lte'].map((bound) => `created_at[${bound}]`);

/** Describes an organization's own API of a kind from its declaration only. */
export function describeResource(
  definition: ResourceDefinition,
  api: OrganizationApi,
): ResourceDocs {
  const name = nameOf(definition);
  const { path } = api;
  const item = `${path}/{id}`;
  const view = schemaRef(name);
  const wrap = (schema: JsonSchema): JsonSchema => (api.coded ? coded(schema) : schema);
  const summary = (verb: string): string => `${verb} (${definition.kind})`;
  const update: OperationDoc = {
    summary: summary('Change'),
    body: schemaRef(`${name}Update`),
    takes: api.yaml ? 'json-or-yaml' : 'json',
    answer: wrap(view),
  };
  const paging = api.dialects ? [...PAGING, 'after_id', 'after', 'order'] : PAGING;
  const query = [...paging, 'q', 'search', 'name', ...definition.filters, ...BOUNDS];
  const operations: Record<string, OperationDoc> = {
    [`GET ${path}`]: {
      summary: summary('List'),
      answer: api.coded ? coded(list(view)) : pagesOf(view, api),
      query: definition.archivable ? [...query, 'include_archived'] : query,
    },
    [`POST ${path}`]: {
      summary: summary('Create'),
      status: 201,
      body: schemaRef(`${name}Create`),
      takes: api.fromForm ? 'json-or-form' : (update.takes ?? 'json'),
      answer: wrap(view),
    },
    [`GET ${item}`]: { summary: summary('Read'), answer: wrap(view) },
    ...(api.changes !== false && { [`PATCH ${item}`]: update, [`POST ${item}`]: update }),
    ...(definition.deletable && {
      [`DELETE ${item}`]: { summary: summary('Delete'), answer: wrap(removed(definition, api)) },
    }),
    ...actionsOf(definition, { item, answer: wrap(view) }),
    ...childrenOf(definition, { item, api }),
  };
  return {
    operations,
    schemas: {
      [name]: inDialects(api, 'item', () => viewSchema(definition, api)),
      [`${name}Create`]: inputSchema(definition),
      ...(api.changes !== false && { [`${name}Update`]: updateSchema(definition, api) }),
    },
  };
}

function actionsOf(
  { actions = {}, versioned }: ResourceDefinition,
  { item, answer }: { item: string; answer: JsonSchema },
): Record<string, OperationDoc> {
  const done = Object.keys(actions).map((action): [string, OperationDoc] => [
    `POST ${item}/${action}`,
    {
      summary: `${action.charAt(0).toUpperCase()}${action.slice(1)}`,
      body: { type: 'object' },
      bodyOptional: true,
      answer,
    },
  ]);
  const versions = { summary: 'List versions', answer: pageOf(answer), query: PAGING };
  return { ...Object.fromEntries(done), ...(versioned && { [`GET ${item}/versions`]: versions }) };
}

function childrenOf(
  { kind }: ResourceDefinition,
  { item, api }: { item: string; api: OrganizationApi },
): Record<string, OperationDoc> {
  return Object.fromEntries(
    Object.keys(api.children ?? {}).flatMap((child) =>
      Object.entries(CHILDREN[`${kind} ${child}`] ?? {}).map(([key, doc]) => {
        const [method, below = ''] = key.split(' ');
        return [`${method} ${item}/${child}${below}`, doc];
      }),
    ),
  );
}

/** `agent` → `Agent`. */
function nameOf({ kind }: ResourceDefinition): string {
  return kind
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function coded(data: JsonSchema): JsonSchema {
  return object({ code: { const: 0 }, data, message: { const: 'ok' } });
}

/** One of the shapes that a kind has for its clients, or its own. */
function inDialects(
  { dialects }: OrganizationApi,
  part: keyof Dialect['members'],
  toOwn: () => JsonSchema,
): JsonSchema {
  if (!dialects) return toOwn();
  return { anyOf: dialects.all.map(({ members }) => object({ ...members[part] } as Properties)) };
}

function pagesOf(view: JsonSchema, api: OrganizationApi): JsonSchema {
  if (!api.dialects) return pageOf(view);
  return { allOf: [object({ data: list(view) }), inDialects(api, 'page', () => pageOf(view))] };
}

function removed({ kind }: ResourceDefinition, api: OrganizationApi): JsonSchema {
  const own = {
    id: { type: 'string' },
    type: { const: `${kind}_deleted` },
    deleted: { const: true },
  };
  return inDialects(api, 'removed', () => object(own));
}

/** Unknown members are ignored (requirement resource.body.unknown-fields). */
function inputSchema({ fields }: ResourceDefinition): ObjectSchema {
  const { properties, required } = fieldSchema(fields, 'input');
  const { organization: _owner, ...own } = properties;
  const needed = required?.filter((name) => name !== 'organization') ?? [];
  return { type: 'object', ...(needed.length > 0 && { required: needed }), properties: own };
}

function updateSchema(definition: ResourceDefinition, api: OrganizationApi): JsonSchema {
  const { properties } = inputSchema(definition);
  const { immutable } = definition;
  const changeable = Object.entries(properties).filter(([name]) =>
    api.updatable ? api.updatable.includes(name) : !immutable.includes(name),
  );
  const guard = { [api.guard ?? 'expected_version']: { type: 'integer' } };
  return {
    type: 'object',
    properties: { ...Object.fromEntries(changeable), ...(!api.updatable && guard) },
  };
}
