import type { Client } from '../client/create-client.ts';
import type { CommandInput, CommandResult } from './command.ts';
import { renderDetails } from './details/render-details.ts';
import { addNames } from './details/references.ts';
import { skipMissing } from './skip-missing.ts';

type View = Readonly<Record<string, unknown>>;

/**
 * One object as a list of its fields, the names of what it refers to beside their ids; with
 * --ignore-not-found a missing one is no failure.
 *
 * @param toRows gives the rows for people where they are others than the members
 */
export async function getResource(
  { context, flags }: CommandInput,
  fetch: (client: Client, signal: AbortSignal) => Promise<View>,
  toRows: (value: View) => View = (value) => value,
): Promise<CommandResult> {
  const client = await context.connect();
  return skipMissing(flags, async () => {
    const found = await fetch(client, context.signal);
    const value = await addNames(client, found, context.signal);
    return { data: value, text: (style) => renderDetails(toRows(value), style) };
  });
}
