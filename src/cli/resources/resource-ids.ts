import type { AdminKind, Client } from '../../client/create-client.ts';
import { findResource } from './find-resource.ts';

/**
 * The id behind an id or an exact name, of any organization; nothing given, nothing asked. Throws
 * `not_found` and `ambiguous`.
 */
export async function toId(
  client: Client,
  { kind, given, signal }: { kind: AdminKind; given: string | undefined; signal: AbortSignal },
): Promise<string | undefined> {
  if (given === undefined) return undefined;
  return (await findResource(client, { kind, named: given }, signal)).id;
}
