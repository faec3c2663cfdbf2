import { ClientError } from './client-error.ts';
import { hasStrings } from './guards.ts';
import type { Http } from './http.ts';

const isDeleted = hasStrings('id');

/** Deletes the object at the path; one whose first answer was lost is repeated and then finds nothing. */
export async function deleteOnce(
  http: Http,
  path: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await http.json({ method: 'DELETE', path, signal }, isDeleted);
  } catch (thrown) {
    const isDone = thrown instanceof ClientError && thrown.status === 404 && thrown.attempts > 1;
    if (!isDone) throw thrown;
  }
}
