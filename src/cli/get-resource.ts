import type { Client } from '../client/create-client.ts';
import type { CommandInput, CommandResult } from './command.ts';
import { lookUp, skipMissing, type Sought } from './not-found.ts';
import { renderFields } from './table.ts';

/** One object as a list of its fields; with --ignore-not-found a missing one is no failure. */
export async function getResource(
  { context, flags }: Pick<CommandInput, 'context' | 'flags'>,
  sought: Sought,
  fetch: (client: Client, signal: AbortSignal) => Promise<Readonly<Record<string, unknown>>>,
): Promise<CommandResult> {
  const client = await context.connect();
  return skipMissing(flags, async () => {
    const value = await lookUp(sought, () => fetch(client, context.signal));
    return { data: value, text: (style) => renderFields(value, style) };
  });
}
