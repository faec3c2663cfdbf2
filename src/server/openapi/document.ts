import type { OrganizationApi, ResourceDefinition } from '../../resources/store/define-resource.ts';
import type { Envelope, EnvelopeName } from '../../protocols/family.ts';
import { ADMIN_OPERATIONS } from './admin-operations.ts';
import { OPERATIONS, WILDCARDS } from './operations.ts';
import type { OperationDoc } from './operations.ts';
import { describeResource } from './resources.ts';
import { ERROR_SCHEMAS, errorName, SCHEMAS, schemaRef } from './schemas.ts';
import type { JsonSchema } from './schemas.ts';
import type { RouteSpec } from '../http/routes.ts';

export interface OpenApiInput {
  /** Routes that are served. */
  readonly routes: readonly RouteSpec[];
  readonly definitions: readonly ResourceDefinition[];
  /** `server.public_url`. Default: the address that the document was got from. */
  readonly publicUrl?: string | undefined;
}

/** Part of the API that a document is about: `/v1` and `/v1beta`, or `/admin`. */
export type ApiPart = 'public' | 'admin';

export type OpenApiDocument = Readonly<Record<string, unknown>> & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
};

export interface OpenApiOperation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

/** Version of the interface, not of the program (contract: Versioning). */
export const INTERFACE_VERSION = '1.0.0';
const JSON_TYPE = 'application/json';

interface Served {
  readonly method: string;
  readonly path: string;
  readonly envelope: Envelope;
  readonly doc: OperationDoc;
}

interface Part {
  /** Prefixes of the paths that belong to it. */
  readonly prefixes: readonly string[];
  readonly description: string;
  readonly operations: Readonly<Record<string, OperationDoc>>;
  /** Segment of a path that names its topic. */
  readonly topic: number;
  /** Way in which a kind is served there; undefined for none. */
  apiOf(definition: ResourceDefinition): OrganizationApi | undefined;
}

const PARTS: Readonly<Record<ApiPart, Part>> = {
  public: {
    prefixes: ['/v1/', '/v1beta/'],
    description: 'Models, agents, Services and Schedules behind one API key.',
    operations: OPERATIONS,
    topic: 2,
    apiOf: ({ api }) => api,
  },
  admin: {
    prefixes: ['/admin/v1/'],
    description: 'Everything of every organization, for keys with the scope admin.',
    operations: ADMIN_OPERATIONS,
    topic: 3,
    apiOf: ({ path, api }) => ({
      path,
      scope: 'admin',
      hidden: [],
      ...(api?.fromForm && { fromForm: api.fromForm }),
    }),
  },
};

/**
 * The OpenAPI 3.1 document of a part of the interface, by default of everything below `/v1` and `/v1beta`
 * (requirement versioning.openapi-served): the paths from the routes, the resources from their
 * declarations. A route without a description is listed all the same.
 */
export function describeApi(
  { routes, definitions, publicUrl }: OpenApiInput,
  name: ApiPart = 'public',
): OpenApiDocument {
  const part = PARTS[name];
  const kinds = definitions.flatMap((definition) => {
    const api = part.apiOf(definition);
    return api ? [{ path: api.path, ...describeResource(definition, api) }] : [];
  });
  const isKind = ({ path }: RouteSpec): boolean =>
    kinds.some((kind) => path === kind.path || path === `${kind.path}/**`);
  const ofKinds = kinds.flatMap(({ operations }) =>
    Object.entries(operations).map(([key, doc]) => served(key, 'resource', doc)),
  );
  const others = routes
    .filter((route) => isIn(part, route) && !isKind(route))
    .flatMap((route) =>
      namesOf(route).map((key) => served(key, route.envelope, part.operations[key])),
    );
  const errors = errorSchemas(others);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Gateway',
      version: INTERFACE_VERSION,
      description: part.description,
    },
    servers: [{ url: publicUrl ?? '/' }],
    security: [{ bearer: [] }],
    paths: toPaths([...others, ...ofKinds], part.topic),
    components: {
      schemas: {
        ...SCHEMAS,
        ...Object.assign({}, ...kinds.map(({ schemas }) => schemas)),
        ...errors,
      },
      responses: errorResponses(Object.keys(errors)),
      securitySchemes: SECURITY,
    },
  };
}

function isIn({ prefixes }: Part, { path }: RouteSpec): boolean {
  return prefixes.some((prefix) => path.startsWith(prefix));
}

function served(key: string, envelope: Envelope, doc?: OperationDoc): Served {
  const [method = '', path = ''] = key.split(' ');
  return {
    method,
    path,
    envelope,
    doc: doc ?? { summary: `${method} ${path}`, body: {}, bodyOptional: true },
  };
}

/**
 * `GET /v1/run/{id}` for each method of a route, and for all that a wildcard matches; none for what matches by
 * a pattern, which is another spelling of a path that is here.
 */
function namesOf({ path, methods }: RouteSpec): string[] {
  if (path.includes('(')) return [];
  return Object.keys(methods).flatMap((method) => {
    const known = WILDCARDS[`${method} ${path}`] ?? [toTemplate(path)];
    return known.map((template) => `${method} ${template}`);
  });
}

const toTemplate = (path: string): string =>
  path.replace(/:(\w+)/g, '{$1}').replace(/\*\*$/, '{id}');

function toPaths(operations: readonly Served[], topic: number): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const operation of operations)
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = toOperation(operation, topic);
  return Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function toOperation({ method, path, envelope, doc }: Served, topic: number): OpenApiOperation {
  const { summary, status = 200, body, bodyOptional = false, takes = 'json', query = [] } = doc;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => parameter(name, 'path'));
  const takesBody = body !== undefined && method !== 'GET' && method !== 'DELETE';
  const named = method === 'POST' ? [parameter('Idempotency-Key', 'header')] : [];
  const security = typeof envelope === 'object' ? undefined : FAMILY_SECURITY[envelope];
  const parameters = [...inPath, ...query.map((name) => parameter(name, 'query')), ...named];
  return {
    operationId: toOperationId(method, path),
    summary,
    tags: [path.split('/')[topic] ?? ''],
    ...(parameters.length > 0 && { parameters }),
    ...(takesBody && {
      requestBody: {
        required: !bodyOptional,
        content: Object.fromEntries(MEDIA[takes].map((type) => [type, { schema: body }])),
      },
    }),
    ...(security && { security }),
    responses: {
      ...Object.fromEntries(
        [status].flat().map((one) => [one, { description: 'Success', ...contentOf(doc) }]),
      ),
      default: { $ref: `#/components/responses/${doc.rpc ? RPC_ERROR : errorName(envelope)}` },
    },
  };
}

const MEDIA: Readonly<Record<NonNullable<OperationDoc['takes']>, readonly string[]>> = {
  json: [JSON_TYPE],
  form: ['multipart/form-data'],
  'json-or-form': [JSON_TYPE, 'multipart/form-data'],
  'json-or-yaml': [JSON_TYPE, 'application/yaml'],
};

function contentOf({ answer, also = [] }: OperationDoc): object {
  const types = [
    ...(answer ? [[JSON_TYPE, { schema: answer }] as const] : []),
    ...also.map((type) => [type, {}] as const),
  ];
  return types.length > 0 ? { content: Object.fromEntries(types) } : {};
}

function parameter(name: string, where: 'path' | 'query' | 'header'): object {
  return { name, in: where, required: where === 'path', schema: { type: 'string' } };
}

/** `post_v1_deployments_id_runs`. */
function toOperationId(method: string, path: string): string {
  return `${method.toLowerCase()}${path.replace(/[^A-Za-z0-9]+/g, '_').replace(/_$/, '')}`;
}

/** Schemas of error bodies, with those that the protocols of operations have of their own. */
function errorSchemas(operations: readonly Served[]): Record<string, JsonSchema> {
  const shared = Object.entries(ERROR_SCHEMAS) as [EnvelopeName, JsonSchema][];
  const own = operations.flatMap(({ envelope }) =>
    typeof envelope === 'object' ? [[envelope, envelope.schema] as const] : [],
  );
  return Object.fromEntries(
    [...shared, ...own].map(([envelope, schema]) => [errorName(envelope), schema]),
  );
}

const RPC_ERROR = 'JsonRpcError';

/** Responses of the checks before a family, which are flat on most of them (contract: Errors). */
function errorResponses(names: readonly string[]): Record<string, object> {
  const flat = errorName('flat');
  const families = names.map((name) => [name, failure(...new Set([name, flat]))] as const);
  const rpc = failure('JsonRpcFailure', errorName('resource'), flat);
  return { ...Object.fromEntries(families), [RPC_ERROR]: rpc };
}

function failure(...names: readonly string[]): object {
  const [only, ...others] = names.map(schemaRef);
  const schema = others.length === 0 ? only : { anyOf: names.map(schemaRef) };
  return { description: 'Failure', content: { [JSON_TYPE]: { schema } } };
}

const SECURITY = {
  bearer: { type: 'http', scheme: 'bearer' },
  apiKeyHeader: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  nativeHeader: { type: 'apiKey', in: 'header', name: 'x-native-api-key' },
  keyQuery: { type: 'apiKey', in: 'query', name: 'key' },
};

const FAMILY_SECURITY: Partial<Record<EnvelopeName, readonly object[]>> = {
  messages: [{ apiKeyHeader: [] }, { bearer: [] }],
  google: [{ nativeHeader: [] }, { bearer: [] }, { keyQuery: [] }],
};
