import type { ResourceView } from '../../client/admin.ts';
import { ClientError } from '../../client/http/client-error.ts';
import type { AdminKind, Client } from '../../client/create-client.ts';
import { collect } from '../../client/http/pages.ts';
import { CliError } from '../cli-error.ts';
import { lookUp } from './not-found.ts';

/**
 * The one resource of a kind with this id, name or slug, where names need not be unique.
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
      const similar = await collect(admin.list({ q: named }, signal));
      const found = similar.filter(({ name, slug }) => name === named || slug === named);
      const [first] = found;
      if (first === undefined) throw thrown;
      if (found.length === 1) return first;
      const message = `${named} is the name of ${found.map(({ id }) => id).join(', ')}`;
      throw new CliError({ code: 'ambiguous', message, exit: 'conflict', hint: 'give the id' });
    }
  });
}
