import { ClientError } from '../client/client-error.ts';
import type { CommandResult, Flags } from './command.ts';

/** With --ignore-not-found what does not exist is no failure, and there is nothing to show. */
export async function skipMissing(
  flags: Flags,
  act: () => Promise<CommandResult>,
): Promise<CommandResult> {
  try {
    return await act();
  } catch (thrown) {
    const missing = thrown instanceof ClientError && thrown.status === 404;
    if (missing && flags.on('ignore-not-found')) return { data: null, text: '' };
    throw thrown;
  }
}
