import type { AdminKind, Client } from '../../client/create-client.ts';
import { findResource } from './find-resource.ts';

/**
 * Resolves an id or an exact name, of any organization, to the id; undefined stays as it is. Throws
 * `not_found` and `ambiguous`.
 */
export async function toId(
  client: Client,
  { kind, given, signal }: { kind: AdminKind; given: string | undefined; signal: AbortSignal },
): Promise<string | undefined> {
  if (given === undefined) return undefined;
  return (await findResource(client, { kind, named: given }, signal)).id;
}
