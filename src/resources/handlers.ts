import { GatewayError } from '../core/errors.ts';
import { scanJson } from '../core/json-scan.ts';
import { toView } from './define-resource.ts';
import type { ResourceDefinition, Stored } from './define-resource.ts';
import { parseListQuery } from './list-query.ts';
import type { Body } from './parse-body.ts';
import type { Repository } from './repository.ts';
import type { Scope, Target } from './resource-rows.ts';

export interface ResourceRequest {
  method: string;
  /** What follows the path of the kind, decoded: none, an id or name, or an id and an action. */
  segments: readonly string[];
  query: URLSearchParams;
  body(): Promise<Buffer>;
  /** Organization of the caller; owner of what it makes. */
  organization: string;
  /** True for callers that see every organization. */
  platform: boolean;
}

export interface ResourceReply {
  status: number;
  body: object;
}

export type ResourceHandler = (request: ResourceRequest) => Promise<ResourceReply>;

/** The REST interface of one kind: list, create, get, update by PATCH and POST, delete, actions. */
export function createResourceHandler(
  definition: ResourceDefinition,
  repository: Repository,
): ResourceHandler {
  return async (request) => {
    const [id, action, ...rest] = request.segments;
    const { method } = request;
    if (rest.length > 0) throw new GatewayError('not_found', { message: 'no such path' });
    if (id === undefined) {
      if (method === 'GET') return list(definition, repository, request);
      if (method === 'POST') return create(definition, repository, request);
      throw refuseMethod(['GET', 'POST']);
    }
    const target: Target = { definition, idOrName: id, ...scopeOf(request) };
    if (action !== undefined) return act(target, action, { repository, method });
    if (method === 'GET') return get(target, repository);
    if (method === 'PATCH' || method === 'POST') return update(target, repository, request);
    if (method === 'DELETE' && definition.deletable) return remove(target, repository);
    throw refuseMethod(
      definition.deletable ? ['GET', 'PATCH', 'POST', 'DELETE'] : ['GET', 'PATCH', 'POST'],
    );
  };
}

async function list(
  definition: ResourceDefinition,
  repository: Repository,
  request: ResourceRequest,
): Promise<ResourceReply> {
  const query = await withOwnerIds(request.query, repository);
  const { limit, after, matches, cursorAfter } = parseListQuery(definition, query);
  // One more than asked for tells whether there is a next page.
  const found = await repository.list(definition, {
    ...scopeOf(request),
    limit: limit + 1,
    after,
    matches,
  });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    status: 200,
    body: {
      data: page.map((stored) => toView(definition, stored)),
      next_page: found.length > limit && last ? cursorAfter(last) : null,
    },
  };
}

/** Filters may name an organization; views carry its id. */
async function withOwnerIds(
  query: URLSearchParams,
  repository: Repository,
): Promise<URLSearchParams> {
  const organizations = repository.definitionOf('organization');
  const result = new URLSearchParams();
  for (const [param, value] of query) {
    const isOwner = /^organization(\[\])?$/.test(param);
    for (const named of isOwner ? value.split(',') : []) {
      const owner = await repository.find(organizations, named, { organization: null });
      result.append('organization', owner?.id ?? named);
    }
    if (!isOwner) result.append(param, value);
  }
  return result;
}

async function create(
  definition: ResourceDefinition,
  repository: Repository,
  request: ResourceRequest,
): Promise<ResourceReply> {
  const body = await readObject(request);
  // A platform caller may name any organization; its own is the default.
  const named = request.platform && typeof body['organization'] === 'string';
  const scope = { organization: named ? null : request.organization };
  const { stored, reveal } = await repository.create(definition, body, scope);
  return { status: 201, body: { ...toView(definition, stored), ...reveal } };
}

async function get(target: Target, repository: Repository): Promise<ResourceReply> {
  const stored = await repository.find(target.definition, target.idOrName, target);
  if (!stored)
    throw new GatewayError('not_found', { message: `${target.definition.kind} not found` });
  return answer(target, stored);
}

async function update(
  target: Target,
  repository: Repository,
  request: ResourceRequest,
): Promise<ResourceReply> {
  const { expected_version: expected, ...body } = await readObject(request);
  if (expected !== undefined && !Number.isSafeInteger(expected)) {
    const message = 'expected_version: expected a whole number';
    throw new GatewayError('invalid_request', { message, param: 'expected_version' });
  }
  const expectedVersion = expected as number | undefined;
  return answer(target, await repository.update({ ...target, expectedVersion }, body));
}

async function remove(target: Target, repository: Repository): Promise<ResourceReply> {
  const { id, kind } = await repository.remove(target);
  return {
    status: 200,
    body: { id, type: `${kind}_deleted`, deleted: true },
  };
}

async function act(
  target: Target,
  action: string,
  { repository, method }: { repository: Repository; method: string },
): Promise<ResourceReply> {
  if (!Object.hasOwn(target.definition.actions ?? {}, action))
    throw new GatewayError('not_found', { message: 'no such path' });
  if (method !== 'POST') throw refuseMethod(['POST']);
  return answer(target, await repository.act(target, action));
}

function answer({ definition }: Target, stored: Stored): ResourceReply {
  return { status: 200, body: toView(definition, stored) };
}

function scopeOf({ platform, organization }: ResourceRequest): Scope {
  return { organization: platform ? null : organization, home: organization };
}

async function readObject({ body }: ResourceRequest): Promise<Body> {
  return scanJson(await body()).value;
}

function refuseMethod(allowed: readonly string[]): GatewayError {
  return new GatewayError('method_not_allowed', { headers: { allow: allowed.join(', ') } });
}
