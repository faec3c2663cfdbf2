import { preferUsable } from '../../client/admin.ts';
import type { ResourceView } from '../../client/admin.ts';
import { ClientError } from '../../client/http/client-error.ts';
import type { AdminKind, Client } from '../../client/create-client.ts';
import { collect } from '../../client/http/pages.ts';
import { factsOf } from '../../core/kinds.ts';
import { CliError } from '../cli-error.ts';
import { lookUp } from './not-found.ts';

/**
 * The one resource of a kind with this id, name or slug, where names need not be unique; an archived one
 * where no other has the name.
 *
 * @throws CliError `not_found` (exit 1); `ambiguous` (exit 5) for a name that several have
 */
export function findResource(
  client: Client,
  { kind, named }: { kind: AdminKind; named: string },
  signal: AbortSignal,
): Promise<ResourceView> {
  const admin = client.admin(kind);
  return lookUp({ kind, named }, async () => {
    try {
      return await admin.get(named, signal);
    } catch (thrown) {
      if (!(thrown instanceof ClientError) || thrown.status !== 404) throw thrown;
      const isArchivable = factsOf(kind).verbs.includes('archive');
      const filters = { q: named, ...(isArchivable && { include_archived: 'true' }) };
      const similar = await collect(admin.list(filters, signal));
      const found = preferUsable(
        similar.filter(({ name, slug }) => name === named || slug === named),
      );
      const [first] = found;
      if (first === undefined) throw thrown;
      if (found.length === 1) return first;
      const message = `${named} is the name of ${found.map(({ id }) => id).join(', ')}`;
      throw new CliError({ code: 'ambiguous', message, exit: 'conflict', hint: 'give the id' });
    }
  });
}
