import type { Client } from '../../client/create-client.ts';
import type { SessionView } from '../../client/sessions.ts';
import { toShellArguments } from '../../core/shell-word.ts';
import { CliError } from '../cli-error.ts';
import { lookUp, wordOf } from '../resources/not-found.ts';

interface Owned {
  readonly kind: 'agents' | 'services';
  /** Name or id that the command names. */
  readonly named: string;
  readonly session: string;
  /** Finds the id of the named one. */
  find(): Promise<string>;
  readonly signal: AbortSignal;
}

/**
 * Refuses to continue a Session with another Agent or Service than its own.
 *
 * @throws CliError `other_owner` (exit 5) with the names; `not_found`
 */
export async function requireOwner(client: Client, owned: Owned): Promise<void> {
  const { kind, named, session, find, signal } = owned;
  const view = await lookUp({ kind: 'sessions', named: session }, () =>
    client.sessions.get(session, signal),
  );
  const { id, name } = ownerOf(view, kind);
  if (named === id || named === name || (id !== undefined && id === (await find()))) return;
  const word = wordOf(kind);
  const owner = name ?? id;
  const command =
    owner === undefined ? 'sessions send' : `${kind} chat ${toShellArguments(owner)} --session`;
  throw new CliError({
    code: 'other_owner',
    exit: 'conflict',
    message: `Session ${session} is of ${owner === undefined ? `no ${word}` : `the ${word} ${owner}`}, not of ${named}`,
    hint: `\`gateway ${command} ${session}\` continues it`,
  });
}

function ownerOf(view: SessionView, kind: Owned['kind']): { id?: string; name?: string } {
  if (kind === 'agents') return view.agent;
  const id = view['endpoint_id'];
  return typeof id === 'string' ? { id } : {};
}
