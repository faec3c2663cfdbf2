import type { AdminKind } from '../../client/create-client.ts';
import { changeResource } from './change-resource.ts';
import type { CommandRun } from '../command.ts';

/** Turns one object of a kind on or off. */
export function setStatus(kind: AdminKind, status: 'active' | 'disabled'): CommandRun {
  return (input) =>
    changeResource(input, {
      kind,
      done: status,
      act: (admin, { id }, signal) => admin.update(id, { status }, signal),
    });
}
