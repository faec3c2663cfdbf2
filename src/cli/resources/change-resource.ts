import type { AdminClient, ResourceView } from '../../client/admin.ts';
import { oneLine } from '../../core/printable.ts';
import type { AdminKind } from '../../client/create-client.ts';
import type { CommandInput, CommandResult } from '../command.ts';
import { findResource } from './find-resource.ts';
import { lookUp, skipMissing, wordOf } from './not-found.ts';

export interface ResourceChange {
  kind: AdminKind;
  /**
   * Verb of the question before a change that cannot be undone, `Delete`; absent: it can be undone.
   */
  ask?: string;
  /** State of the object afterwards, `deleted`. */
  done: string;
  act(admin: AdminClient, found: ResourceView, signal: AbortSignal): Promise<ResourceView | void>;
}

/** Changes the one object that the argument `id` names, by its id or name. */
export function changeResource(
  { args, flags, context }: CommandInput,
  { kind, ask, done, act }: ResourceChange,
): Promise<CommandResult> {
  return skipMissing(flags, async () => {
    const client = await context.connect();
    const admin = client.admin(kind);
    const sought = { kind, named: args['id'] ?? '' };
    const found = await findResource(client, sought, context.signal);
    const called = `${wordOf(kind)} ${oneLine(found.name)} (${found.id})`;
    if (ask !== undefined)
      await context.confirm(`${ask} ${called} of ${client.baseUrl}? This cannot be undone.`);
    const changed = await lookUp(sought, () => act(admin, found, context.signal));
    return { data: changed ?? { id: found.id }, text: `${called} is ${done}` };
  });
}
