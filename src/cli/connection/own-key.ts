import { parseJson } from '../../core/json/value.ts';
import { hasStrings } from '../../client/http/guards.ts';
import type { Client } from '../../client/create-client.ts';
import { CliError } from '../cli-error.ts';

/** Description of the key in use by the gateway. */
export interface OwnKey {
  id: string;
  name: string;
  organization: { id: string; name: string };
  /** Null: everything but admin. */
  scopes: string[] | null;
  /** Null: only its scopes decide; absent from older gateways. */
  role?: string | null;
}

const isNamed = hasStrings('id', 'name');

/** Every valid key may ask; throws `not_a_gateway` when the answer is none of a gateway. */
export async function readOwnKey(client: Client, signal: AbortSignal): Promise<OwnKey> {
  const { body } = await client.raw({ method: 'GET', path: '/v1/account/key', signal });
  const found = parseJson(body);
  if (isOwnKey(found)) return found;
  throw new CliError({
    code: 'not_a_gateway',
    message: `${client.baseUrl} does not answer like a gateway`,
    hint: 'check the address, which must not end with /v1',
  });
}

function isOwnKey(value: unknown): value is OwnKey {
  if (!isNamed(value) || !('organization' in value) || !('scopes' in value)) return false;
  return isNamed(value.organization) && (value.scopes === null || Array.isArray(value.scopes));
}
