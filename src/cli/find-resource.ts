import type { AdminClient, ResourceView } from '../client/admin.ts';
import { ClientError } from '../client/client-error.ts';
import { collect } from '../client/pages.ts';
import { CliError } from './cli-error.ts';

/**
 * The one resource of a kind with this id, name or slug, where names need not be unique.
 *
 * @throws ClientError `not_found`; CliError `ambiguous` (exit 5) for a name that several have
 */
export async function findResource(
  admin: AdminClient,
  named: string,
  signal: AbortSignal,
): Promise<ResourceView> {
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
    throw new CliError({ code: 'ambiguous', message, exit: 'conflict' });
  }
}
