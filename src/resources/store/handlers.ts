import { approximateSize } from '../../core/json/approximate-size.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Body, Scope, Stored } from './stored.ts';
import type { ResourceDefinition, Target } from './define-resource.ts';
import { parseListQuery } from './list-query.ts';
import { present } from '../fields/present.ts';
import { refuseMethod } from './refuse-method.ts';
import type { Created, Repository } from './repository.ts';
import { getVersion, listVersions } from './version-handlers.ts';
import type { ResourceReply, ResourceRequest } from './resource-request.ts';

/** Characters of JSON after which a page ends before its limit. */
const MAX_PAGE_SIZE = 1024 * 1024;

export type ResourceHandler = (request: ResourceRequest) => Promise<ResourceReply>;

interface Context {
  definition: ResourceDefinition;
  repository: Repository;
  request: ResourceRequest;
}

/**
 * The REST interface of one kind: list, create, get, update by PATCH and POST, delete, actions. For
 * administrators it is the same for every kind, else as the kind's `api` says.
 */
export function createResourceHandler(
  definition: ResourceDefinition,
  repository: Repository,
): ResourceHandler {
  return async (request) => {
    const context = { definition, repository, request };
    const { method, platform, named } = request;
    const [id, action, ...rest] = request.segments;
    if (id === undefined) {
      if (method === 'GET') return list(context);
      if (method === 'POST') return create(context);
      throw refuseMethod(['GET', 'POST']);
    }
    const also = named && ((next: Stored) => named.answered(answer(context, next)));
    const target: Target = { definition, idOrName: id, ...scopeOf(request), ...(also && { also }) };
    if (action !== undefined) return below(context, target, [action, ...rest]);
    const methods = methodsOf(definition, platform);
    if (!methods.includes(method)) throw refuseMethod(methods);
    if (method === 'GET') return get(context, target);
    if (method === 'DELETE') return remove(context, target);
    return update(context, target);
  };
}

/** The caller's organization, or all of them. */
export function scopeOf({ platform, organization, by }: ResourceRequest): Scope {
  return { organization: platform ? null : organization, home: organization, by };
}

function methodsOf(definition: ResourceDefinition, platform: boolean): string[] {
  const changes = platform || definition.api?.changes !== false ? ['PATCH', 'POST'] : [];
  return ['GET', ...changes, ...(definition.deletable ? ['DELETE'] : [])];
}

async function list({ definition, repository, request }: Context): Promise<ResourceReply> {
  const { dialect } = request;
  const asked = dialect ? dialect.toQuery(request.query) : request.query;
  const query = await withOwnerIds(asked, repository);
  const { limit, after, order, matches, cursorAfter } = parseListQuery(definition, query);
  const isWhole = !request.platform && definition.api?.coded === true;
  // One more than requested shows whether there is a next page.
  const found = await repository.list(definition, {
    ...scopeOf(request),
    limit: isWhole ? Infinity : limit + 1,
    ...(!isWhole && { maxSize: MAX_PAGE_SIZE }),
    after,
    order,
    matches,
  });
  const isCut = approximateSize(found.map(({ spec }) => spec)) >= MAX_PAGE_SIZE;
  const page = isWhole ? found : found.slice(0, limit);
  const data = page.map((stored) => present(definition, stored, request));
  if (isWhole) return { status: 200, body: coded(data) };
  const last = page.at(-1);
  const next = (found.length > limit || isCut) && last ? cursorAfter(last) : null;
  const ids = page.map(({ id }) => id);
  return { status: 200, body: dialect?.toPage(data, { ids, next }) ?? { data, next_page: next } };
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

async function create({ definition, repository, request }: Context): Promise<ResourceReply> {
  const body = await ownBody(definition, request);
  // A platform caller may name any organization; its own is the default.
  const isForOther = request.platform && typeof body['organization'] === 'string';
  const toReply = (made: Created): ResourceReply => ({
    ...answerRevealing({ definition, request }, made),
    status: 201,
  });
  const { named } = request;
  const created = await repository.create(definition, body, {
    organization: isForOther ? null : request.organization,
    by: request.by,
    ...(named && { also: (made) => named.answered(toReply(made)) }),
  });
  return toReply(created);
}

async function get(context: Context, target: Target): Promise<ResourceReply> {
  const { definition, repository, request } = context;
  const stored = await repository.get(definition, target.idOrName, target);
  const wanted = request.query.get('version');
  if (!definition.versioned || wanted === null) return answer(context, stored);
  return answer(context, await getVersion(repository, stored, wanted));
}

async function update(context: Context, target: Target): Promise<ResourceReply> {
  const { definition, repository, request } = context;
  const { expected_version: expected, ...body } = await ownBody(definition, request);
  const { guard, updatable } = (!request.platform && definition.api) || {};
  const strange = updatable && Object.keys(body).find((member) => !updatable.includes(member));
  if (strange !== undefined) {
    const message = `${strange}: only ${updatable?.join(', ')} can be changed`;
    throw new GatewayError('invalid_request', { message, param: strange });
  }
  const name = guard !== undefined && guard in body ? guard : 'expected_version';
  const expectedVersion = readVersion(name, name === guard ? body[name] : expected);
  const also = judged(context, target, body);
  return answer(context, await repository.update({ ...target, expectedVersion, also }, body));
}

/** Further operations of an update, which is judged before. */
function judged(
  { definition: { permit }, repository, request: { rights } }: Context,
  target: Target,
  body: Body,
): Target['also'] {
  if (!permit) return target.also;
  return async (next, ops) => {
    // One that another process changed meanwhile is not committed, but tried again.
    const before = await repository.get(target.definition, next.id, target);
    await permit({ repository, before, next, body, rights });
    return (await target.also?.(next, ops)) ?? [];
  };
}

function readVersion(param: string, value: unknown): number | undefined {
  if (value === undefined || Number.isSafeInteger(value)) return value as number | undefined;
  const message = `${param}: expected a whole number`;
  throw new GatewayError('invalid_request', { message, param });
}

async function remove(context: Context, target: Target): Promise<ResourceReply> {
  const { definition, repository, request } = context;
  const { id, kind } = await repository.remove(target);
  const body = request.dialect?.toRemoved(id) ?? { id, type: `${kind}_deleted`, deleted: true };
  return { status: 200, body: wrap(definition, request, body) };
}

/** An action, the versions, or what else a kind has below its resources. */
async function below(
  context: Context,
  target: Target,
  [name = '', ...segments]: readonly string[],
): Promise<ResourceReply> {
  const { definition, repository, request } = context;
  const child = definition.api?.children;
  if (child && Object.hasOwn(child, name)) {
    const stored = await repository.get(definition, target.idOrName, target);
    return child[name]!({ repository, stored, request, segments });
  }
  const isVersions = definition.versioned === true && name === 'versions';
  const isAction = Object.hasOwn(definition.actions ?? {}, name);
  if (segments.length > 0 || (!isVersions && !isAction)) {
    throw new GatewayError('not_found', { message: 'no such path' });
  }
  if (isVersions) {
    if (request.method !== 'GET') throw refuseMethod(['GET']);
    const stored = await repository.get(definition, target.idOrName, target);
    return listVersions(definition, { repository, stored, request });
  }
  if (request.method !== 'POST') throw refuseMethod(['POST']);
  const body = await request.body({ optional: true });
  return answerRevealing(context, await repository.act(target, name, body));
}

type Shown = Pick<Context, 'definition' | 'request'>;

function answer({ definition, request }: Shown, stored: Stored): ResourceReply {
  return { status: 200, body: wrap(definition, request, present(definition, stored, request)) };
}

function answerRevealing(
  { definition, request }: Shown,
  { stored, reveal }: Created,
): ResourceReply {
  const view = { ...present(definition, stored, request), ...reveal };
  // A value that is shown once must not stay in a cache.
  const isSecret = Object.keys(reveal).length > 0;
  return {
    status: 200,
    ...(isSecret && { headers: { 'cache-control': 'no-store' } }),
    body: wrap(definition, request, view),
  };
}

function wrap(definition: ResourceDefinition, request: ResourceRequest, view: object): object {
  return !request.platform && definition.api?.coded ? coded(view) : view;
}

function coded(data: unknown): object {
  return { code: 0, data, message: 'ok' };
}

/** Reads a body that names no other owner, as none may in an organization's own API. */
async function ownBody(definition: ResourceDefinition, request: ResourceRequest): Promise<Body> {
  const body = await request.body();
  if (request.platform || definition.api === undefined) return body;
  const { organization: _ignored, ...own } = body;
  return own;
}
