import type { ValueBound } from '../../core/json/json-document.ts';
import { GatewayError } from '../../core/errors.ts';
import { key } from '../../resources/kinds/key.ts';
import type { Repository } from '../../resources/store/repository.ts';
import { readObject } from '../../resources/fields/parse-body.ts';
import { admit, admitToPlatform, SELF } from '../../surfaces/gate.ts';
import { readKey } from '../../surfaces/carriers.ts';
import type { GateDeps } from '../../surfaces/gate.ts';
import type { Handler, HttpExchange, Reply } from '../../surfaces/http-exchange.ts';
import { readBody } from '../../surfaces/read-body.ts';
import type { HandlersOf } from '../routes/lazy-routes.ts';
import type { SSO_ROUTES } from '../routes/outlines.ts';
import type { Sso } from './open-sso.ts';
import { MAPPING_LABEL } from './roles.ts';
import { originOf } from '../../audit/origin-of.ts';

export interface SsoHandlersDeps extends GateDeps {
  readonly repository: Repository;
  /** Undefined where `server.sso` is not set. */
  readonly sso: Sso | undefined;
  readonly resourceValues: ValueBound;
}

const MAX_BODY_BYTES = 16_384;
const MAX_CODE = 4_096;
/** Holder of the memory for bodies of sign-ins, which have no key yet. */
const NOBODY = 'sso';
const KEPT_NOWHERE = { 'cache-control': 'no-store' };

/**
 * `GET /v1/account/sso` and the two calls by which a program signs a person in. The gateway itself talks
 * to the provider: its secret, the tokens and the check of them never leave it, and what a program holds
 * meanwhile, the device code, works once.
 */
export function ssoHandlers(deps: SsoHandlersDeps): HandlersOf<typeof SSO_ROUTES> {
  const { sso, rates } = deps;
  // The caller has no key yet, so that each call counts as a guess of a key does.
  const forAnybody =
    (handle: (exchange: HttpExchange, parts: Sso) => ReturnType<Handler>): Handler =>
    async (exchange) => {
      await admitToPlatform(rates, 'refused');
      if (sso) return handle(exchange, sso);
      const message = 'this gateway has no single sign-on; its operator can set server.sso';
      throw new GatewayError('not_found', { message });
    };
  return {
    // Null where there is none, which is no failure.
    tellSso: async () => {
      await admitToPlatform(rates, 'refused');
      return { status: 200, body: viewOf(sso) };
    },
    startDevice: forAnybody(async (_exchange, { provider }) => ({
      status: 201,
      headers: KEPT_NOWHERE,
      body: { type: 'sso_device', ...(await provider.startDevice()) },
    })),
    takeKey: forAnybody(async (exchange, parts) => {
      const { code, organization } = await readRequest(exchange, deps.resourceValues);
      const claims = await parts.provider.pollDevice(code);
      if (!claims) {
        const body = { type: 'sso_pending' };
        return { status: 202, headers: KEPT_NOWHERE, body };
      }
      const by = 'sso_device';
      const key = await parts.signIn(claims, { exchange, by, organization });
      const body = {
        type: 'sso_key',
        id: key.id,
        name: key.name,
        value: key.value,
        person: key.person.name,
        organization: key.mapping.organization,
        role: key.mapping.role,
        expires_at: key.expiresAt,
      };
      return { status: 201, headers: KEPT_NOWHERE, body };
    }),
    endKey: (exchange) => endKey(exchange, deps),
  };
}

/** Public facts of the provider; null where there is none. */
export function viewOf(sso: Sso | undefined): object {
  const { issuer = null, client_id = null } = sso?.settings ?? {};
  return { type: 'sso', issuer, client_id };
}

/** Revokes the key of a person that it is called with; keys made without a sign-in stay. */
async function endKey(exchange: HttpExchange, deps: SsoHandlersDeps): Promise<Reply> {
  const { headers } = exchange.request;
  const presented = readKey(['bearer'], headers, exchange.search);
  const { principal, leave } = await admit(presented, SELF, deps);
  try {
    if (principal.labels?.[MAPPING_LABEL] === undefined) {
      const message = 'only a key that a sign-in made ends so; gateway keys revoke revokes any';
      throw new GatewayError('conflict', { message, retry: false });
    }
    const { keyId: idOrName, organizationId: organization } = principal;
    const definition = deps.repository.definitionOf(key.kind);
    const by = originOf(exchange, principal);
    await deps.repository.act({ definition, idOrName, organization, by }, 'revoke');
    return { status: 204 };
  } finally {
    leave();
  }
}

async function readRequest(
  exchange: HttpExchange,
  values: ValueBound,
): Promise<{ code: string; organization: string | undefined }> {
  const bytes = await readBody(exchange, { limit: MAX_BODY_BYTES, holder: NOBODY });
  const { device_code: code, organization } = await readObject(bytes, { values });
  if (typeof code !== 'string' || code === '' || code.length > MAX_CODE)
    throw wrong('device_code', 'the device code that POST /v1/account/sso/device gave');
  if (organization !== undefined && typeof organization !== 'string')
    throw wrong('organization', 'the name of an organization');
  return { code, organization };
}

function wrong(param: string, expected: string): GatewayError {
  return new GatewayError('invalid_request', {
    message: `${param}: expected ${expected}`,
    param,
  });
}
