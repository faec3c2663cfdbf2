import { GatewayError } from '../../core/errors.ts';
import type { Stored } from './stored.ts';
import type { ResourceDefinition } from './define-resource.ts';
import type { ResourceReply, ResourceRequest } from './resource-request.ts';
import { readLimit } from './list-query.ts';
import { present } from '../fields/present.ts';
import type { Repository } from './repository.ts';

export interface VersionsInput {
  repository: Repository;
  stored: Stored;
  request: ResourceRequest;
}

/** @throws GatewayError `invalid_request` unless it is a version; `not_found` */
export async function getVersion(
  repository: Repository,
  stored: Stored,
  wanted: string,
): Promise<Stored> {
  const found = await repository.version(stored, readNumber('version', wanted));
  if (found) return found;
  const message = `${stored.kind} ${stored.id} has no version ${wanted}`;
  throw new GatewayError('not_found', { message, param: 'version' });
}

/** Every version of a resource, newest first, in pages. */
export async function listVersions(
  definition: ResourceDefinition,
  { repository, stored, request }: VersionsInput,
): Promise<ResourceReply> {
  const limit = readLimit(request.query);
  const before = readCursor(stored, request.query.get('page'));
  const found = await repository.versions(stored, { before, limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    status: 200,
    body: {
      data: page.map((version) => present(definition, version, request)),
      next_page: found.length > limit && last ? toCursor(last) : null,
    },
  };
}

function toCursor({ id, version }: Stored): string {
  return Buffer.from(`${id}@${version}`).toString('base64url');
}

function readCursor(stored: Stored, value: string | null): number | undefined {
  if (value === null || value === '') return undefined;
  const [, version = ''] = Buffer.from(value, 'base64url').toString('utf8').split('@');
  const number = /^[1-9]\d{0,14}$/.test(version) ? Number(version) : 0;
  if (number > 0 && toCursor({ ...stored, version: number }) === value) return number;
  const message = 'page: not a cursor of this list';
  throw new GatewayError('invalid_request', { message, param: 'page' });
}

function readNumber(param: string, value: string): number {
  if (/^[1-9]\d{0,14}$/.test(value)) return Number(value);
  const message = `${param}: expected a whole number of at least 1`;
  throw new GatewayError('invalid_request', { message, param });
}
