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

/** Names of a kind's resources, by id. */
export async function namesById(
  client: Client,
  kind: AdminKind,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for await (const { id, name } of client.admin(kind).list({}, signal)) names.set(id, name);
  return names;
}
