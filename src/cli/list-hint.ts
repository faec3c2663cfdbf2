import { parentOf } from './command.ts';
import type { CommandSpec } from './command.ts';
import type { Failure } from './output.ts';

/** A failure for want of what was named tells which command shows what there is. */
export function withListHint(
  failure: Failure,
  command: CommandSpec,
  commands: readonly CommandSpec[],
): Failure {
  if (failure.status !== 404 || failure.hint !== undefined) return failure;
  const groups = [parentOf(command.name), ...(command.args ?? []).map(({ name }) => `${name}s`)];
  const lists = groups.map((group) => `${group} list`);
  const list = commands.find(({ name }) => lists.includes(name));
  return list ? { ...failure, hint: `\`gateway ${list.name}\` shows what there is` } : failure;
}
