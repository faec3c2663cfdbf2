import type { Session } from '../../sessions/session.ts';
import { noSession } from '../../sessions/log/session-log.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { EntryCall } from './entry-call.ts';

/** Caller of a Service that wants to read a Session, or to steer it. */
export type SessionReader = Pick<EntryCall, 'service' | 'seesAll'>;

/**
 * A Session that an entry point shows: one of its own Service, or any of the organization to a key that
 * may read them all.
 *
 * @throws GatewayError `not_found`, the same for one that is not shown as for one that is not there
 */
export async function findShown(
  sessions: Pick<Sessions, 'get'>,
  { service, seesAll }: SessionReader,
  id: string,
): Promise<Session> {
  const session = await sessions.get(service.organization, id);
  if (seesAll || session.endpointId === service.id) return session;
  throw noSession();
}
