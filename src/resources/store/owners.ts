import { GatewayError } from '../../core/errors.ts';
import type { Body, Scope, Spec } from './stored.ts';
import type { ResourceDefinition } from './define-resource.ts';
import { organization } from '../kinds/organization.ts';
import type { ResourceRows } from './resource-rows.ts';

const EVERYWHERE: Scope = { organization: null };

/**
 * The id of the organization that a new resource belongs to; null for the platform's own.
 *
 * @throws GatewayError `invalid_request` when none is named; `not_found` for one that is unknown or not the
 * caller's
 */
export async function ownerOf(
  rows: ResourceRows,
  { definition, spec }: { definition: ResourceDefinition; spec: Spec },
  scope: Scope,
): Promise<string | null> {
  if (!definition.organizationScoped) return null;
  const wanted = (spec['organization'] as string | undefined) ?? scope.organization;
  if (!wanted) {
    throw new GatewayError('invalid_request', {
      message: 'organization: name the owner',
      param: 'organization',
    });
  }
  const owner = (await rows.load(organization, wanted, EVERYWHERE))?.stored;
  if (owner && (scope.organization === null || scope.organization === owner.id)) return owner.id;
  const message = `organization: no organization \`${wanted}\``;
  throw new GatewayError('not_found', { message, param: 'organization' });
}

/** An owner that is named by its name is the same owner. */
export async function withOwnerId(
  rows: ResourceRows,
  definition: ResourceDefinition,
  body: Body,
): Promise<Body> {
  const { organization: named } = body;
  if (!definition.organizationScoped || typeof named !== 'string') return body;
  const owner = await rows.load(organization, named, EVERYWHERE);
  return owner ? { ...body, organization: owner.stored.id } : body;
}
