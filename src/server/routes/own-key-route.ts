import type { Role } from '../../core/access.ts';
import { organization } from '../../resources/kinds/organization.ts';
import { readKey } from '../../surfaces/carriers.ts';
import { admit, SELF } from '../../surfaces/gate.ts';
import { resourceCarriers } from './organization-routes.ts';
import type { OrganizationDeps } from './organization-routes.ts';
import type { RouteSpec } from '../http/routes.ts';

/** View of the key that asks. */
export interface OwnKeyView {
  readonly id: string;
  readonly type: 'own_key';
  readonly name: string;
  readonly organization: { readonly id: string; readonly name: string };
  /** Null: everything but admin. */
  readonly scopes: readonly string[] | null;
  /** Null: only its scopes decide. */
  readonly role: Role | null;
}

/**
 * `GET /v1/account/key`: whom the gateway takes the caller for (requirement cli.contexts). Every key may
 * ask, whatever its scopes, so that a restricted one can find out whether it is valid.
 */
export function ownKeyRoute(deps: OrganizationDeps): RouteSpec {
  const carriers = resourceCarriers(deps);
  return {
    path: '/v1/account/key',
    envelope: 'resource',
    methods: {
      async GET({ request, search }) {
        const { principal, leave } = await admit(
          readKey(carriers, request.headers, search),
          SELF,
          deps,
        );
        try {
          const { keyId, keyName, organizationId, scopes, role = null } = principal;
          const owner = await deps.repository.get(organization, organizationId, {
            organization: null,
          });
          const body: OwnKeyView = {
            id: keyId,
            type: 'own_key',
            name: keyName,
            organization: { id: organizationId, name: owner.spec['name'] },
            scopes: scopes && [...scopes],
            role,
          };
          return { status: 200, body };
        } finally {
          leave();
        }
      },
    },
  };
}
