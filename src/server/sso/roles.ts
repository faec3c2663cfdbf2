import { createHash } from 'node:crypto';
import { GatewayError } from '../../core/errors.ts';
import type { KeyFound, KeyLookup } from '../../surfaces/gate.ts';
import type { Claims, SsoSettings } from './provider.ts';

export type Mapping = SsoSettings['roles'][number];

/** A person in the claims of the provider. */
export interface Person {
  readonly subject: string;
  /** Mail address where the provider gives one, else the subject. */
  readonly name: string;
  readonly groups: readonly string[];
}

/** Label of the keys of people, by which a key ends with its mapping. */
export const MAPPING_LABEL = 'gateway/sso';
export const SUBJECT_LABEL = 'gateway/sso-subject';
const MAX_NAME = 128;
const MAX_SUBJECT = 255;
const MAX_GROUPS = 2_000;
const SHOWN_GROUPS = 10;
const SHOWN_CHARS = 64;

/** @throws GatewayError `sso_unavailable` for claims without a subject */
export function toPerson(claims: Claims, { groups_claim }: SsoSettings): Person {
  const { sub, email, email_verified } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT) {
    const message = 'the identity provider named no subject of at most 255 characters';
    throw new GatewayError('sso_unavailable', { message });
  }
  const isTold = typeof email === 'string' && /^[^\s@]+@[^\s@]+$/.test(email);
  const name = isTold && email_verified !== false ? email : sub;
  return { subject: sub, name: printable(name, MAX_NAME), groups: groupsIn(claims[groups_claim]) };
}

function groupsIn(claim: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return list.slice(0, MAX_GROUPS).filter((one): one is string => typeof one === 'string');
}

/**
 * First mapping that fits; where an organization is named, only one of it.
 *
 * @throws GatewayError `sso_refused` that says which groups were seen and what to map
 */
export function mappingFor(
  { groups, name }: Person,
  { roles, groups_claim: claim }: Pick<SsoSettings, 'roles' | 'groups_claim'>,
  organization?: string,
): Mapping {
  const own = new Set(groups);
  const found = roles.find(
    (one) => own.has(one.group) && (organization ?? one.organization) === one.organization,
  );
  if (found) return found;
  const shown = groups.slice(0, SHOWN_GROUPS).map((group) => printable(group, SHOWN_CHARS));
  const more = groups.length > SHOWN_GROUPS ? ` and ${groups.length - SHOWN_GROUPS} more` : '';
  const seen =
    groups.length === 0
      ? `the claim ${claim} names no group`
      : `the claim ${claim} names ${shown.join(', ')}${more}`;
  const where = organization === undefined ? '' : ` of organization ${printable(organization, 64)}`;
  throw new GatewayError('sso_refused', {
    message: `${name} has no role here: ${seen}, and none of it is mapped${where}; let the operator map a group under server.sso.roles`,
  });
}

/** Mark of a mapping: another one when anything of it, or the provider, is another. */
export function markOf(
  { issuer, client_id }: Pick<SsoSettings, 'issuer' | 'client_id'>,
  { group, organization, role, scopes }: Mapping,
): string {
  const told = JSON.stringify([issuer, client_id, group, organization, role, scopes]);
  return createHash('sha256').update(told).digest('base64url').slice(0, 22);
}

/** Finds keys as before, but those of people are revoked when their mapping is gone. */
export function endedWithMapping(lookup: KeyLookup, settings: SsoSettings | undefined): KeyLookup {
  const marks = new Set(settings?.roles.map((one) => markOf(settings, one)));
  const judge = (found: KeyFound): KeyFound => {
    if (typeof found === 'string') return found;
    const mark = found.labels?.[MAPPING_LABEL];
    return mark === undefined || marks.has(mark) ? found : 'revoked';
  };
  return (key) => {
    const found = lookup(key);
    return found instanceof Promise ? found.then(judge) : judge(found);
  };
}

function printable(text: string, most: number): string {
  const shown = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
  return shown.length > most ? `${shown.slice(0, most - 1)}…` : shown;
}
