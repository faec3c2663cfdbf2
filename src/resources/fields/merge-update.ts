import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { Body, Spec, Stored } from '../store/stored.ts';
import type { CheckContext, ResourceDefinition } from '../store/define-resource.ts';
import { parseSpec } from './parse-body.ts';
import { secretAt, withoutSecrets } from './secret-path.ts';
import { sameJson } from './same-json.ts';

export interface Fields {
  spec: Spec;
  /** Write-only values as given; null removes one. */
  secrets: Record<string, unknown>;
}

/** The fields of a body, secrets apart. Throws as {@link parseSpec} and the kind's own check do. */
export function readFields(
  definition: ResourceDefinition,
  body: Body,
  context: CheckContext,
): Fields {
  const parsed = parseSpec(definition, body);
  const secrets: Record<string, unknown> = {};
  for (const path of definition.secrets) {
    const given = secretAt(parsed, path);
    if (given !== undefined) secrets[path] = secretText(given);
  }
  const spec = withoutSecrets(parsed, definition.secrets) as Spec;
  definition.check?.(spec, secrets, context);
  return { spec, secrets };
}

/**
 * Fields after an update: omitted ones stay, maps are patched member by member.
 *
 * @throws GatewayError `invalid_request` for a field that cannot be changed
 */
export function mergeUpdate(
  definition: ResourceDefinition,
  sent: Body,
  context: CheckContext & { before: Stored },
): Fields {
  const { before: stored } = context;
  const patch = { ...(definition.patch?.(stored, sent) ?? sent) };
  for (const field of definition.patched ?? []) {
    if (field in patch) patch[field] = patchMap(stored.spec[field], patch[field]);
  }
  refuseImmutable(definition, stored, patch);
  const fields = readFields(definition, { ...stored.spec, ...patch }, context);
  if (stored.organization !== null) fields.spec['organization'] = stored.organization;
  return fields;
}

/** A value upserts its key, null deletes it; null for the whole map changes nothing. */
function patchMap(before: unknown, patch: unknown): unknown {
  if (patch === null) return before;
  if (typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const merged = { ...(before as Record<string, unknown>), ...patch };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}

function refuseImmutable(definition: ResourceDefinition, stored: Stored, patch: Body): void {
  for (const field of definition.immutable) {
    if (!(field in patch) || sameJson(patch[field], stored.spec[field])) continue;
    throw new GatewayError('invalid_request', {
      message: `${field} cannot be changed`,
      param: field,
    });
  }
}

/** Text to seal of a write-only value: the value itself, or the one member of an object around it. */
function secretText(value: unknown): unknown {
  return isJsonObject(value) ? Object.values(value)[0] : value;
}
