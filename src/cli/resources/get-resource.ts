import type { Client } from '../../client/create-client.ts';
import type { CommandResult } from '../command.ts';
import { renderDetails } from '../details/render-details.ts';
import { addNames } from '../details/references.ts';
import { lookUp, skipMissing, type MissingInput, type Sought } from './not-found.ts';

type View = Readonly<Record<string, unknown>>;

/** Resource to show, and its form. */
interface Shown extends Sought {
  /** Gives the rows for people where they are others than the members. */
  readonly toRows?: (value: View) => View;
}

/**
 * One object as a list of its fields, the names of its references next to their ids; with
 * --ignore-not-found a missing one is no failure.
 */
export async function getResource(
  { context, flags }: MissingInput,
  { toRows = (value) => value, ...sought }: Shown,
  fetch: (client: Client, signal: AbortSignal) => Promise<View>,
): Promise<CommandResult> {
  const client = await context.connect();
  return skipMissing(flags, async () => {
    const found = await lookUp(sought, () => fetch(client, context.signal));
    const value = await addNames(client, found, context.signal);
    return { data: value, text: (style) => renderDetails(toRows(value), style) };
  });
}
