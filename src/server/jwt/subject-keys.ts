import type { JwtIssuer } from '../../config/schema/jwt-schema.ts';
import { GatewayError } from '../../core/errors.ts';
import { ISSUER_LABEL, key } from '../../resources/kinds/key.ts';
import { organization } from '../../resources/kinds/organization.ts';
import type { Stored } from '../../resources/store/stored.ts';
import type { Repository } from '../../resources/store/repository.ts';
import type { TokenIdentity } from './token-identity.ts';
import { STANDARD_SCOPES } from './token-identity.ts';

export interface SubjectKeysDeps {
  readonly repository: Repository;
  /** Sees every change that was committed before, or rejects. */
  catchUp(): Promise<void>;
}

/**
 * Makes sure that a subject has its key, with the limits and labels that its token says; returns the id.
 * Undefined where its organization is not there, or the name is that of another key. A revoked key stays
 * as it is. Rejects with `StoreError`.
 */
export async function ensureSubjectKey(
  issuer: JwtIssuer,
  identity: TokenIdentity,
  { repository, catchUp }: SubjectKeysDeps,
): Promise<string | undefined> {
  const organizations = repository.definitionOf(organization.kind);
  const owner = await repository.find(organizations, identity.organization, { organization: null });
  if (!owner) return undefined;
  const definition = repository.definitionOf(key.kind);
  const scope = { organization: owner.id };
  const name = `${issuer.name}/${identity.subject}`;
  const find = (): Promise<Stored | undefined> => repository.find(definition, name, scope);
  const own = { [ISSUER_LABEL]: issuer.name };
  const labels = identity.fields['labels'] as Record<string, string> | undefined;
  let stored = await find();
  if (!stored) {
    const body = {
      ...identity.fields,
      name,
      scopes: scopesOf(issuer),
      labels: { ...labels, ...own },
    };
    try {
      ({ stored } = await repository.create(definition, body, scope));
    } catch (thrown) {
      // Another call, perhaps of another process, was faster.
      if (!(thrown instanceof GatewayError) || thrown.code !== 'conflict') throw thrown;
      stored = await find();
    }
  }
  if (stored?.spec.labels?.[ISSUER_LABEL] !== issuer.name) return undefined;
  if (stored.state['revoked_at'] === null && Object.keys(identity.fields).length > 0) {
    const body = {
      ...identity.fields,
      ...(labels && { labels: { ...stored.spec.labels, ...labels, ...own } }),
    };
    await repository.update({ definition, idOrName: stored.id, ...scope }, body);
  }
  await catchUp();
  return stored.id;
}

/** Everything that a token of the issuer can be used for. */
function scopesOf({ roles }: JwtIssuer): string[] {
  return roles ? [...new Set(Object.values(roles.scopes).flat())] : [...STANDARD_SCOPES];
}
