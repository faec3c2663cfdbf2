import { randomBytes } from 'node:crypto';
import type { AuditNote, Origin } from '../../audit/audit-entry.ts';
import { callOf } from '../../audit/origin-of.ts';
import { GatewayError } from '../../core/errors.ts';
import { toShellArguments } from '../../core/shell-word.ts';
import type { Clock } from '../../core/time/clock.ts';
import { organization } from '../../resources/kinds/organization.ts';
import type { Repository } from '../../resources/store/repository.ts';
import type { HttpExchange } from '../../surfaces/http-exchange.ts';
import type { Claims, SsoSettings } from './provider.ts';
import { mappingFor, MAPPING_LABEL, markOf, SUBJECT_LABEL, toPerson } from './roles.ts';
import type { Mapping, Person } from './roles.ts';

export interface SsoSignInDeps {
  readonly settings: SsoSettings;
  readonly repository: Repository;
  readonly clock: Clock;
}

/** Way in which a person signs in at the provider. */
export type SsoWay = 'sso' | 'sso_device';

/** A person who came back from the provider. */
export interface Arrival {
  readonly exchange: HttpExchange;
  readonly by: SsoWay;
  /** Name of the organization to act in. Default: the first that is mapped. */
  readonly organization?: string | undefined;
}

/** Key of a person, for as long as a sign-in lasts. */
export interface PersonKey {
  readonly person: Person;
  readonly mapping: Mapping;
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  /** Shown this once. */
  readonly value: string;
  /** RFC 3339. */
  readonly expiresAt: string;
}

const NAME_BYTES = 4;
const EVERYWHERE = { organization: null };

/**
 * Makes the key that a person acts with, and notes the sign-in in the audit log.
 * Rejects with `sso_refused` for a person of no mapped group, which is audited too.
 */
export async function signInPerson(
  claims: Claims,
  arrival: Arrival,
  { settings, repository, clock }: SsoSignInDeps,
): Promise<PersonKey> {
  const person = toPerson(claims, settings);
  try {
    const mapping = mappingFor(person, settings, arrival.organization);
    const owner = await repository.find(organization, mapping.organization, EVERYWHERE);
    if (!owner) throw missing(mapping.organization);
    const key = repository.definitionOf('api_key');
    const expiresAt = new Date(clock.now() + settings.lifetime).toISOString();
    const name = `${person.name} ${randomBytes(NAME_BYTES).toString('hex')}`;
    const fields = {
      name,
      role: mapping.role,
      scopes: mapping.scopes,
      expires_at: expiresAt,
      labels: { [MAPPING_LABEL]: markOf(settings, mapping), [SUBJECT_LABEL]: person.subject },
    };
    const by = personOrigin(person, arrival.exchange);
    const { stored, reveal } = await repository.create(key, fields, { organization: owner.id, by });
    const made = { id: stored.id, name, value: String(reveal['value']), expiresAt };
    const signedIn = { person, mapping, organizationId: owner.id, ...made };
    await repository.audit.record(signInNote(signedIn, arrival));
    return signedIn;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'sso_refused')
      await repository.audit.record(refusalNote(error, { person, arrival }));
    throw error;
  }
}

function personOrigin({ subject, name }: Person, exchange: HttpExchange): Origin {
  return { actor: { kind: 'person', id: subject, name }, ...callOf(exchange) };
}

function signInNote(
  { person, mapping, id, name, organizationId }: PersonKey,
  { exchange, by }: Arrival,
): AuditNote {
  const told = { by, group: mapping.group, role: mapping.role };
  return {
    origin: personOrigin(person, exchange),
    action: 'sign_in',
    object: { kind: 'api_key', id, name },
    organization: organizationId,
    changes: toChanges(told),
  };
}

function refusalNote(
  refusal: GatewayError,
  { person, arrival: { exchange, by } }: { person: Person; arrival: Arrival },
): AuditNote {
  return {
    origin: personOrigin(person, exchange),
    action: 'sign_in_refused',
    object: { kind: 'api_key', id: exchange.id, name: null },
    organization: null,
    changes: toChanges({ by, reason: refusal.message }),
  };
}

function toChanges(told: Readonly<Record<string, unknown>>): AuditNote['changes'] {
  return Object.entries(told).map(([path, value]) => ({ path, old: null, new: value }));
}

function missing(name: string): GatewayError {
  const message = `server.sso.roles names organization ${name}, which does not exist; make it: gateway organizations create ${toShellArguments(name)}`;
  return new GatewayError('sso_refused', { message });
}
