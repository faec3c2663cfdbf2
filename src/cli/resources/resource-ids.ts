import type { AdminKind, Client } from '../../client/create-client.ts';
import { lookUp } from './not-found.ts';

/** The id behind an id or an exact name; nothing given, nothing asked. Throws `not_found`. */
export async function toId(
  client: Client,
  { kind, given, signal }: { kind: AdminKind; given: string | undefined; signal: AbortSignal },
): Promise<string | undefined> {
  if (given === undefined) return undefined;
  const find = () => client.admin(kind).get(given, signal);
  return (await lookUp({ kind, named: given }, find)).id;
}
