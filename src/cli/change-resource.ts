import type { AdminClient, ResourceView } from '../client/admin.ts';
import { oneLine } from '../core/printable.ts';
import type { AdminKind } from '../client/create-client.ts';
import type { CommandInput, CommandResult } from './command.ts';
import { findResource } from './find-resource.ts';
import { skipMissing } from './skip-missing.ts';

export interface ResourceChange {
  kind: AdminKind;
  /** What cannot be undone is asked first, `Delete`; absent: it can be undone. */
  ask?: string;
  /** What it is afterwards, `deleted`. */
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
    const found = await findResource(admin, args['id'] ?? '', context.signal);
    const called = `${kind.slice(0, -1)} ${oneLine(found.name)} (${found.id})`;
    if (ask !== undefined)
      await context.confirm(`${ask} ${called} of ${client.baseUrl}? This cannot be undone.`);
    const changed = await act(admin, found, context.signal);
    return { data: changed ?? { id: found.id }, text: `${called} is ${done}` };
  });
}
