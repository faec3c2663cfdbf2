import { ClientError } from '../client/client-error.ts';
import type { Client } from '../client/create-client.ts';
import type { CommandInput, CommandResult } from './command.ts';
import { renderFields } from './table.ts';

/** One object as a list of its fields; with --ignore-not-found a missing one is no failure. */
export async function getResource(
  { context, flags }: CommandInput,
  fetch: (client: Client, signal: AbortSignal) => Promise<Readonly<Record<string, unknown>>>,
): Promise<CommandResult> {
  const client = await context.connect();
  try {
    const value = await fetch(client, context.signal);
    return { data: value, text: (style) => renderFields(value, style) };
  } catch (thrown) {
    const missing = thrown instanceof ClientError && thrown.status === 404;
    if (missing && flags.on('ignore-not-found')) return { data: null, text: '' };
    throw thrown;
  }
}
